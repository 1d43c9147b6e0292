import Glibc

@main
enum Main {
  static func main() {
    if CommandLine.arguments.dropFirst().first == "broker" {
      exit(BrokerCommand.run(arguments: Array(CommandLine.arguments.dropFirst(2))))
    }
  }
}
