/// How often what occurs, of 10,000. Believable rather than measured: orders of magnitude as public
/// reports on mobile platforms and push opt-in rates have them, so that every rule of the decision
/// fires somewhere and none drowns the others.
enum Shares {
  // Users.
  /// 1, 2, 3 and 4 devices: 1.36 on average.
  static let deviceCounts = [7100, 2300, 500, 100]
  static let accountTimezone = 6000
  static let quietHours = 3333
  static let mutedSubtypes = 600
  static let legalHold = 5
  static let abuseHold = 20
  static let bouncedAccount = 80
  static let smsRecord = 1200

  // Quiet hours of an account that has them.
  static let quietDays = 1000
  static let quietAllDay = 100
  static let quietEmpty = 50
  /// Devices of such an account with a window of their own, and with none on purpose.
  static let quietOnDevice = 800
  static let quietNullOnDevice = 400

  // Devices.
  static let away = 300
  static let timezoneMissing = 200
  static let regionMissing = 300
  static let bouncedDevice = 50
  static let deviceChoice = 600
  /// granted, denied, provisional.
  static let permissionsIOS = [5500, 3800, 700]
  static let permissionsAndroid = [7500, 2500, 0]
  /// active, expired, revoked.
  static let tokens = [9200, 600, 200]

  // Choices of an account: user-on, user-off, an explicit default; else nothing is stored.
  static let marketing = [1600, 2200, 200]
  static let social = [400, 700, 200]
  static let transactional = [150, 200, 50]
  static let security = [0, 10, 50]
  /// A `user-on` with no time or source on record: a choice, but no consent.
  static let undatedOptIn = 200

  // Candidates: social, marketing, transactional, security.
  static let categories = [5500, 2500, 1800, 200]
  static let oneDevice = 500
  static let unknownDevice = 20
  static let unknownUser = 30
  static let unregisteredName = 100
  static let alreadyExpired = 50

  /// The share of iOS among the phones of a region.
  static func ios(region: String) -> Int {
    switch region {
    case "JP": 6600
    case "US", "CA", "AU", "NO", "SE", "DK", "CH": 5800
    case "GB", "NZ", "IE", "TW", "HK", "SG": 5000
    case "DE", "FR", "NL", "AT", "BE", "FI", "RU", "SA", "AE": 3500
    case "CN", "ES", "IT", "KR", "MX", "PL", "TH", "VN": 2800
    case "IN", "BD", "PK", "NG", "KE", "ET": 600
    default: 1800
    }
  }
}
