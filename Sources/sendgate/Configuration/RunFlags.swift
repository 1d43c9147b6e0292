/// The flags of every command that reads the gate's configuration.
enum RunFlags {
  static let configVariable = "SENDGATE_CONFIG"

  static let configuration: [Flag] = [
    .text("config", "FILE", "the configuration file", environment: configVariable),
    .text(
      "set", "KEY=VALUE", "overrides a key of the file; passwords belong in the environment",
      isRepeatable: true),
  ]
}

extension ParsedArguments {
  /// The settings that `--config`, the environment and `--set` add up to, unchecked.
  func loadSettings() throws(CommandFailure) -> Settings {
    try Settings.load(
      file: text("config"), overrides: texts("set"), environment: Process.environment())
  }

  /// The configuration that `--config`, the environment and `--set` add up to.
  func loadConfiguration() throws(CommandFailure) -> GateConfiguration {
    try GateConfiguration.load(
      file: text("config"), overrides: texts("set"), environment: Process.environment())
  }
}
