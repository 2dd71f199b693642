// Prints why tests failed that passed when they were tried again; else nothing tells it.

export default class RetryReporter {
  onTestCaseResult(testCase) {
    if (!testCase.diagnostic()?.flaky) return;
    for (const { message, stack = '', diff } of testCase.result().errors ?? []) {
      process.stderr.write(`\nPassed when tried again: ${testCase.fullName}\n${diff ?? message}\n${stack}\n`);
    }
  }
}
