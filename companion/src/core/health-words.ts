// The judgement that stands beside the state of a job. It is never terminal and never stops anything.

export type Health = 'progressing' | 'unknown' | 'attention';
export type AttentionKind = 'task_attention' | 'monitor_attention' | null;

/** One judgement of a run (formats 2.1). `reason` is one plain sentence. */
export interface Checkpoint {
  /** The how-manieth interval since the launch. */
  n: number;
  at: string;
  elapsed_seconds: number;
  state: Health;
  attention_kind: AttentionKind;
  phase: string | null;
  completed: number | null;
  total: number | null;
  eta_seconds: number | null;
  reason: string;
  /** Names the causes of an attention: the same causes, the same word. Null without attention. */
  fingerprint: string | null;
}
