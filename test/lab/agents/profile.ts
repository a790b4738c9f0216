// What the lab must know of one agent CLI: where its pinned program is, and which environment and config make it talk to the scripted
// model and to nothing else. One `profile.ts` per CLI beside this file; agent-lab.ts makes a lab of it.
export interface LabPlace {
  /** A home of its own, below the workspace; exists. */
  home: string;
  /** `http://127.0.0.1:PORT/SCENARIO`: what follows is the CLI's own affair (`/v1`, `/v1beta`, nothing). */
  baseUrl: string;
  /** Where the CLI works. */
  dir: string;
}

export interface LabProfile {
  id: string;
  /** The command on PATH. */
  program: string;
  /** Major of the lab Node that must come first on PATH, or null when the CLI runs with any. */
  node: 24 | null;
  /** Scripted stand-in instead of the real CLI. */
  isStandIn: boolean;
  /** The wire of the model server that it speaks. */
  wire: 'responses' | 'chat' | 'messages' | 'gemini' | null;
  /** Beside HOME and PATH. */
  environment(place: LabPlace): Record<string, string>;
  /** Write its config into `home` (called again for every change of the scenario). */
  configure(place: LabPlace): void;
  /** Cases that it retries for minutes by itself: only a short job limit in CI, whole under `--full`. */
  slowCases: readonly string[];
  /** Can it go on in a conversation from another folder? */
  resumesElsewhere: boolean;
  /** `--model` value that the lab's server accepts, or null when none is needed. */
  model: string | null;
}
