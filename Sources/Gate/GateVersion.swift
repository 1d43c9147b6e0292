/// The version in every record and of the command.
public enum GateVersion {
  public static let text: StaticString = "0.1.0"
}
