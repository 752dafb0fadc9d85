"""What suites of tests share: their files, the judged algorithms, the verdicts and their table."""
