/**
 * Says which Node runs the built file: $JOB_TEST_NODE (the runner sets it for `--nodes 22,26`) or the one that runs the
 * tests. The tests themselves always run on the latter.
 */
export function testNode(): string {
  return process.env.JOB_TEST_NODE || process.execPath;
}
