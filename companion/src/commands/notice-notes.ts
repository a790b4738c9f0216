// A notifier that failed would otherwise be seen by nobody: one line for whoever collects.
import { failedNotice } from '../jobs/notice-seen.ts';
import type { View } from '../jobs/view.ts';

export function noticeNotes(view: View): string[] {
  const failed = failedNotice(view);
  return failed === null ? [] : [`notify: ${failed}`];
}
