/// Every command, in the order of the help.
enum CommandTable {
  static let all: [Command] = [
    RunCommand.command,
    CheckCommand.command,
    EvaluateCommand.command,
    TopicsCommand.command,
    PublishCommand.command,
    GenerateCommand.command,
    DispatchCommand.command,
    BrokerCommand.command,
    SimulateCommand.command,
  ]
}
