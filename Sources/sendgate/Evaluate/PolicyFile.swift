import Gate

/// The policy of a command.
enum PolicyFile {
  private static let bytesMax = 4 << 20

  /// - Parameter path: nil or empty: the built-in one.
  static func read(_ path: String?) throws(CommandFailure) -> Policy {
    guard let path, !path.isEmpty else { return Policy.builtIn }
    let text = try FileIO.read(path, bytesMax: bytesMax)
    do throws(PolicyError) {
      return try text.withUnsafeBytes { bytes in
        Result { () throws(PolicyError) in try Policy(json: bytes) }
      }.get()
    } catch {
      throw CommandFailure(ExitCode.configuration, "\(path): \(error.description)")
    }
  }

  /// What a policy says that only the tz database can judge.
  static func check(_ policy: Policy, _ zones: ZonePublisher) throws(CommandFailure) {
    var name = policy.fallbackTimezone
    let zone = name.withUTF8 { zones.intern(UnsafeRawBufferPointer($0)) }
    guard !zones.current.isKnown(zone) else { return }
    let near = zones.suggestions(for: policy.fallbackTimezone)
    let hint = near.isEmpty ? "such as UTC" : "such as \(near.joined(separator: " or "))"
    throw CommandFailure(
      ExitCode.configuration,
      "policy key fallback_timezone: \"\(policy.fallbackTimezone)\" is not in the tz database; "
        + "write an id of it, \(hint)")
  }
}
