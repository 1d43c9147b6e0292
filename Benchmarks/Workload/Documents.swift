/// Preference documents without a String for each, for tables of a hundred million devices: each is
/// one of some thousand believable ones with its own ids put in.
public final class Documents {
  private static let shapeCount = 4096

  private enum Part {
    case bytes(Range<Int>)
    case user
    case device(Int)
  }

  private let population: Users
  private var bytes: [UInt8] = []
  private var shapes: [[Part]] = []
  private var deviceCounts: [Int] = []
  private var text: [UInt8] = []

  public init(of population: Users) {
    self.population = population
    for shape in 0..<Self.shapeCount {
      shapes.append(parts(Array(population.document(shape).utf8), shape))
      deviceCounts.append(population.deviceCount(shape))
    }
  }

  private func parts(_ document: [UInt8], _ shape: Int) -> [Part] {
    let devices = (0..<population.deviceCount(shape)).map {
      ("\"device_id\":\"", population.deviceID(shape, $0), Part.device($0))
    }
    var parts: [Part] = []
    var at = 0
    for (label, id, part) in [("\"user_id\":\"", population.id(shape), Part.user)] + devices {
      let quoted = Array((label + id).utf8)
      let found = (at...document.count - quoted.count).first {
        document[$0..<$0 + quoted.count].elementsEqual(quoted)
      }!
      let end = found + label.utf8.count
      parts.append(keep(document[at..<end]))
      parts.append(part)
      at = end + id.utf8.count
    }
    return parts + [keep(document[at...])]
  }

  private func keep(_ run: ArraySlice<UInt8>) -> Part {
    bytes += run
    return .bytes(bytes.count - run.count..<bytes.count)
  }

  public func deviceCount(_ user: Int) -> Int { deviceCounts[user % Self.shapeCount] }

  /// Of all device ids of a user.
  public func deviceIDBytes(_ user: Int) -> Int {
    (0..<deviceCount(user)).reduce(0) {
      $0 + "device-".utf8.count + Self.digits(user) + 1 + Self.digits($1)
    }
  }

  private static func digits(_ number: Int) -> Int {
    var count = 1
    var rest = number / 10
    while rest > 0 {
      count += 1
      rest /= 10
    }
    return count
  }

  /// The document of a user, for the length of a call.
  public func with<Result>(_ user: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    text.removeAll(keepingCapacity: true)
    for part in shapes[user % Self.shapeCount] {
      switch part {
      case .bytes(let run): text += bytes[run]
      case .user: population.appendID(user, to: &text)
      case .device(let device):
        text += "device-".utf8
        Users.append(user, to: &text)
        text.append(UInt8(ascii: "-"))
        Users.append(device, to: &text)
      }
    }
    return text.withUnsafeBytes(body)
  }
}

extension Users {
  /// The bytes of `id`.
  func appendID(_ user: Int, to text: inout [UInt8]) {
    var random = Random(seed: seed ^ UInt64(user))
    let number = random.next() >> 8
    text += "user-".utf8
    for shift in stride(from: UInt64(52), through: 0, by: -4) {
      let nibble = UInt8(number >> shift & 0xF)
      text.append(nibble < 10 ? 0x30 + nibble : 0x57 + nibble)
    }
    text.append(UInt8(ascii: "-"))
    Self.append(user, to: &text)
  }

  static func append(_ number: Int, to text: inout [UInt8]) {
    var power = 1
    while number / power >= 10 { power *= 10 }
    while power > 0 {
      text.append(0x30 + UInt8(number / power % 10))
      power /= 10
    }
  }
}
