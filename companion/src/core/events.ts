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
  | 'ended';

export interface JobEvent {
  seq: number;
  at: string;
  job: string;
  owner: string | null;
  type: EventType;
  [field: string]: unknown;
}
