import Gate

/// The links that open the system's notification settings of the app.
public struct SettingsLinks: Equatable, Sendable {
  public let androidPackage: String

  /// Nil where it is no Android package name: two or more parts of letters, digits and underscores,
  /// each beginning with a letter.
  public init?(androidPackage: String) {
    let parts = androidPackage.split(separator: ".", omittingEmptySubsequences: false)
    let isName = parts.allSatisfy { part in
      guard let first = part.utf8.first, Self.isLetter(first) else { return false }
      return part.utf8.allSatisfy { Self.isLetter($0) || $0 == 0x5F || 0x30...0x39 ~= $0 }
    }
    guard parts.count >= 2, isName, androidPackage.utf8.count <= 255 else { return nil }
    self.androidPackage = androidPackage
  }

  private static func isLetter(_ byte: UInt8) -> Bool { 0x61...0x7A ~= byte | 0x20 }

  public subscript(_ platform: Platform) -> String {
    switch platform {
    case .ios: "app-settings:"
    case .android:
      "intent:#Intent;action=android.settings.APP_NOTIFICATION_SETTINGS;"
        + "S.android.provider.extra.APP_PACKAGE=\(androidPackage);end"
    }
  }
}
