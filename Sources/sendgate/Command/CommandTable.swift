/// Every command, in the order of the help.
enum CommandTable {
  static let all: [Command] = [
    RunCommand.command,
    CheckCommand.command,
    EvaluateCommand.command,
    TopicsCommand.command,
    LinkKeyCommand.command,
    PublishCommand.command,
    GenerateCommand.command,
    DispatchCommand.command,
    ServeCommand.command,
    PreferencesCommand.command,
    AuditCommand.command,
    ExplainCommand.command,
    TokenCommand.command,
    BrokerCommand.command,
    SimulateCommand.command,
  ]
}
