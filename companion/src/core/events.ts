// One line of events.ndjson. `type` says what happened; the rest of the fields belong to the type. Readers ignore types
// and fields that they do not know.

export type EventType =
  | 'claimed'
  | 'worker_replaced'
  | 'worker_failed'
  | 'started'
  | 'conversation'
  | 'tool'
  | 'final_answer'
  | 'two_writers'
  | 'cancel_requested'
  | 'stopping'
  | 'output_trimmed'
  | 'leftovers_ended'
  | 'late_evidence'
  | 'ended'
  /** A run's judgement at an interval. */
  | 'checkpoint'
  /** A timer that waits for its instant. */
  | 'armed'
  /** A watch saw something that it had not told yet. */
  | 'news'
  /** Attempts of a watch began to fail, for another reason than before, or too often. */
  | 'trouble'
  /** Trouble that is over. */
  | 'recovered'
  | 'notified'
  /** It waits for its turn. */
  | 'queued'
  /** Its turn has come; its limit counts from here. */
  | 'turn'
  /** An ordered file of the child lies in its hand-back folder. */
  | 'handback'
  /** So much was handed back that some of it is not told. */
  | 'handback_many'
  /** A loop, or a gate, does its next thing. */
  | 'step'
  /** How an agent is doing, when that changed. */
  | 'liveness';

/** What an event can wake a `wait` for that asked for it (`--until`); the end of the job wakes every one. */
export const wakes = ['terminal', 'checkpoint', 'attention', 'handback', 'news'] as const;
export type Wake = (typeof wakes)[number];

export interface JobEvent {
  seq: number;
  at: string;
  job: string;
  owner: string | null;
  type: EventType;
  /** Absent: nobody is woken. */
  wake?: Wake[];
  [field: string]: unknown;
}
