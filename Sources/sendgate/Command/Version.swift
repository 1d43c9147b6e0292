/// The version of the command, by the rules of semantic versioning.
enum Version {
  static let current = "0.1.0"
}
