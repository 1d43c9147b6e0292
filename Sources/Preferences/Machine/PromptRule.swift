import Gate

/// Whether the system's permission prompt may be shown on a device (requirements P1).
public enum PromptAnswer: Equatable, Sendable {
  case allowed
  /// No: show the page in the app that leads to the system's settings instead.
  case inAppPage(PromptRefusal)
  /// No, and nothing instead.
  case nothing(PromptRefusal)

  public var isAllowed: Bool { self == .allowed }
}

/// Why the prompt may not be shown. Raw values are codes.
public enum PromptRefusal: String, CaseIterable, Sendable {
  /// The policy's `permission_prompt_moments` does not list it.
  case unknownMoment = "moment_not_in_policy"
  /// The user has no such device.
  case unknownDevice = "unknown_device"
  case firstLaunch = "first_launch"
  case alreadyPrompted = "already_prompted"
  case alreadyGranted = "already_granted"
}

extension PreferenceMachine {
  /// An app reports itself several times when it is first opened; what comes after this is another
  /// launch.
  public static let firstLaunchMs: Int64 = 5 * 60_000

  /// - Parameter shared: what is known of the device whoever uses it: a prompt that an earlier user
  ///   of the device saw counts.
  public func mayPrompt(
    _ device: DevicePreferences?, shared: SharedDevice?, moment: Identifier
  ) -> PromptAnswer {
    guard let device, device.isPresent, let sync = device.sync?.value,
      let first = device.firstSeenMs, let last = device.lastSeenMs
    else { return .nothing(.unknownDevice) }
    if sync.osPermission == .granted { return .nothing(.alreadyGranted) }
    if shared?.prompt != nil { return .inAppPage(.alreadyPrompted) }
    guard policy.promptMoments.contains(where: { Identifier($0) == moment }) else {
      return .nothing(.unknownMoment)
    }
    if last - first < Self.firstLaunchMs { return .nothing(.firstLaunch) }
    return .allowed
  }
}
