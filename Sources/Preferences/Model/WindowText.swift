import Gate

/// A window as documents write it.
enum WindowText {
  private static let weekdays = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

  static func clock(_ minute: UInt16) -> String {
    let digits = [minute / 600, minute / 60 % 10, minute % 60 / 10, minute % 10].map(String.init)
    return "\(digits[0])\(digits[1]):\(digits[2])\(digits[3])"
  }

  static func days(_ days: UInt8) -> [String] {
    (0..<7).filter { days >> $0 & 1 != 0 }.map { weekdays[$0] }
  }
}
