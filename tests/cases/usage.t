The version, and what a wrong command line says: one sentence on standard error, exit code 2.

  $ paritas --version
  paritas \d+\.\d+\.\d+ (re)
  $ paritas
  paritas: A subcommand is required
  [2]
  $ paritas --no-such-flag 2>&1 >/dev/null | grep -c '^paritas: '
  1

Nothing goes to standard output when the command line is wrong.

  $ paritas frobnicate 2>/dev/null
  [2]
