/// A counted notification on the state topic. Key: `user_id`, `c`, the category and
/// `notification_id`, joined by NUL bytes, which no id contains. A counter is what its keys add up to: each
/// approval writes one small record, whatever the caps are called and however many there are.
enum CapRecord {
  static let keyBytesMax = 2 * (CandidateDecoder.idBytesMax + 1) + 16
  static let valueBytesMax = 96 + CapDevices.max * 19

  struct Key {
    var user: Bytes
    var category: Category
    var notification: Bytes
  }

  struct Value: Equatable {
    var atMs: Int64
    var state: CapEntry.State
  }

  // MARK: Writing

  /// Takes up to `keyBytesMax`.
  static func writeKey(
    user: Bytes, category: Category, notification: Bytes, to out: inout JSONWriter
  ) {
    out.raw(user)
    out.byte(0)
    out.byte(UInt8(ascii: "c"))
    out.byte(0)
    out.raw(category.name)
    out.byte(0)
    out.raw(notification)
  }

  /// Takes up to `valueBytesMax`.
  static func writeValue(_ entry: CapEntry, of counters: CapCounters, to out: inout JSONWriter) {
    out.raw("{\"at\":")
    out.instant(entry.atMs)
    out.raw(",\"state\":")
    out.string(entry.state.name)
    if entry.state == .open {
      out.raw(",\"waiting\":[")
      writeDevices(entry, of: counters, rejected: false, to: &out)
      out.raw("],\"rejected\":[")
      writeDevices(entry, of: counters, rejected: true, to: &out)
      out.byte(UInt8(ascii: "]"))
    }
    out.byte(UInt8(ascii: "}"))
  }

  private static func writeDevices(
    _ entry: CapEntry, of counters: CapCounters, rejected: Bool, to out: inout JSONWriter
  ) {
    // In place: a closure that captures the writer would have to copy it.
    var isFirst = true
    var at = entry.devices
    while at != 0 {
      let device = counters.device(at)
      if device.isRejected == rejected {
        if !isFirst { out.byte(UInt8(ascii: ",")) }
        isFirst = false
        out.byte(UInt8(ascii: "\""))
        for shift in stride(from: 56, through: 0, by: -8) {
          out.hex(UInt8(truncatingIfNeeded: device.hash >> UInt64(shift)))
        }
        out.byte(UInt8(ascii: "\""))
      }
      at = device.next
    }
  }

  // MARK: Reading

  /// The parts of a key; nil where it is of another kind.
  static func key(_ key: Bytes) -> Key? {
    guard let end = key.firstIndex(of: 0), end > 0, key.count > end + 3,
      key[end + 1] == UInt8(ascii: "c"), key[end + 2] == 0
    else { return nil }
    let rest = Bytes(rebasing: key[(end + 3)...])
    guard let middle = rest.firstIndex(of: 0), middle + 1 < rest.count else { return nil }
    let notification = Bytes(rebasing: rest[(middle + 1)...])
    let name = Bytes(rebasing: rest[..<middle])
    guard let category = Category.allCases.first(where: { name.equals($0.name) }),
      notification.firstIndex(of: 0) == nil
    else { return nil }
    return Key(user: Bytes(rebasing: key[..<end]), category: category, notification: notification)
  }

  /// Nil where it cannot be read. `devices` becomes the devices of an open one. Members that are not
  /// known are passed over.
  static func value(_ text: Bytes, _ devices: inout [CapDevice]) -> Value? {
    devices.removeAll(keepingCapacity: true)
    if let plain = plainValue(text, &devices) { return plain }
    devices.removeAll(keepingCapacity: true)
    return anyValue(text, &devices)
  }

  /// As this version writes it: a restore reads millions.
  private static func plainValue(_ text: Bytes, _ devices: inout [CapDevice]) -> Value? {
    // {"at":"2026-03-09T22:30:00.000Z","state":"open","waiting":["…"],"rejected":[]}
    guard text.count >= 51, slice(text, 0, 7).equals("{\"at\":\""),
      slice(text, 31, 42).equals("\",\"state\":\""), let atMs = Instant.parse(slice(text, 7, 31))
    else { return nil }
    let rest = slice(text, 42, text.count)
    for state in [CapEntry.State.accepted, .refunded, .recounted] {
      let name = state.name
      if rest.count == name.utf8CodeUnitCount + 2, slice(rest, 0, rest.count - 2).equals(name),
        slice(rest, rest.count - 2, rest.count).equals("\"}")
      {
        return Value(atMs: atMs, state: state)
      }
    }
    guard rest.count >= 18, slice(rest, 0, 18).equals("open\",\"waiting\":[\"") else { return nil }
    var at = 17
    guard plainDevices(rest, &at, rejected: false, &devices), rest.count >= at + 14,
      slice(rest, at, at + 14).equals("],\"rejected\":[")
    else { return nil }
    at += 14
    guard plainDevices(rest, &at, rejected: true, &devices),
      slice(rest, at, rest.count).equals("]}")
    else { return nil }
    return Value(atMs: atMs, state: .open)
  }

  /// Strings of 16 hexadecimal digits with commas between them, from `at` on.
  private static func plainDevices(
    _ text: Bytes, _ at: inout Int, rejected: Bool, _ devices: inout [CapDevice]
  ) -> Bool {
    guard at < text.count, text[at] == UInt8(ascii: "\"") else { return true }
    while true {
      guard at + 18 <= text.count, text[at] == UInt8(ascii: "\""),
        text[at + 17] == UInt8(ascii: "\""), let hash = hex(slice(text, at + 1, at + 17)),
        devices.count < CapDevices.max
      else { return false }
      devices.append(CapDevice(hash: hash, isRejected: rejected))
      at += 18
      guard at < text.count, text[at] == UInt8(ascii: ",") else { return true }
      at += 1
    }
  }

  private static func hex(_ text: Bytes) -> UInt64? {
    guard text.count == 16 else { return nil }
    var value: UInt64 = 0
    for byte in text {
      switch byte {
      case 0x30...0x39: value = value << 4 | UInt64(byte - 0x30)
      case 0x61...0x66: value = value << 4 | UInt64(byte - 0x57)
      default: return nil
      }
    }
    return value
  }

  private static func slice(_ text: Bytes, _ from: Int, _ to: Int) -> Bytes {
    Bytes(rebasing: text[from..<to])
  }

  private static func anyValue(_ text: Bytes, _ devices: inout [CapDevice]) -> Value? {
    guard let tree = try? JSONValue(text), case .object(let members) = tree else { return nil }
    func member(_ name: String) -> JSONValue? { members.first { $0.name == name }?.value }
    guard case .string(let name)? = member("state"),
      let state = CapEntry.State.all.first(where: { "\($0.name)" == name })
    else { return nil }
    let atMs: Int64? =
      switch member("at") {
      case .string(let text)?: Instant.parse(text: text)
      case .number(let digits)?: Int64(digits)
      default: nil
      }
    guard let atMs, Instant.readable.contains(atMs) else { return nil }
    guard state == .open else { return Value(atMs: atMs, state: state) }
    for (name, isRejected) in [("waiting", false), ("rejected", true)] {
      guard case .array(let elements)? = member(name) else { return nil }
      for element in elements {
        guard case .string(var digits) = element, let hash = digits.withUTF8({ hex(Bytes($0)) }),
          devices.count < CapDevices.max
        else { return nil }
        devices.append(CapDevice(hash: hash, isRejected: isRejected))
      }
    }
    // One that waits for nobody would never be refunded, and is not open.
    return devices.contains { !$0.isRejected } ? Value(atMs: atMs, state: .open) : nil
  }
}

extension CapEntry.State {
  static let all: [Self] = [.open, .accepted, .refunded, .recounted]

  var name: StaticString {
    switch self {
    case .open: "open"
    case .accepted: "accepted"
    case .refunded: "refunded"
    case .recounted: "recounted"
    }
  }
}
