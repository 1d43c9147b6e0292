import Glibc

@main
enum Main {
  static func main() {
    // Whoever read the output may go away first; the write then fails with an errno like any other.
    signal(SIGPIPE, SIG_IGN)
    let dispatch = Dispatch(
      commands: CommandTable.all, environment: Process.environment(),
      printOut: { Process.print($0, to: STDOUT_FILENO) },
      printError: { Process.print($0, to: STDERR_FILENO) })
    exit(dispatch.run(Array(CommandLine.arguments.dropFirst())))
  }
}
