/// What a workload is made from. Equal values give equal bytes, on any machine.
struct Workload {
  var users: Int
  var candidates: Int
  var seed: UInt64
  /// When the first candidate was created, milliseconds since the epoch.
  var startMs: Int64
  /// How long the candidates are spread over, seconds.
  var spanSeconds: Int
  var hostile: Int
  var places: Places

  /// The streams of random numbers, one per use, so that more of one thing does not change another.
  enum Stream: UInt64 {
    case user, device, candidate, hostile, userID, deviceID
  }

  func random(_ stream: Stream, _ index: Int = 0) -> Random {
    Random(seed: seed, stream: stream.rawValue, index: UInt64(index))
  }

  /// The two halves of user `index`'s id. Users from `users` on exist nowhere.
  func userID(_ index: Int) -> (UInt64, UInt64) { id(.userID, index) }

  /// How many devices user `index` has.
  func deviceCount(_ index: Int) -> Int {
    var random = random(.device, index)
    return 1 + random.pick(Shares.deviceCounts)
  }

  func deviceID(user: Int, device: Int) -> (UInt64, UInt64) {
    id(.deviceID, user * Shares.deviceCounts.count + device)
  }

  private func id(_ stream: Stream, _ index: Int) -> (UInt64, UInt64) {
    var random = random(stream, index)
    return (random.next(), random.next())
  }
}

extension LineWriter {
  /// A version 4 UUID, the form of id that most services use.
  func uuid(_ id: (UInt64, UInt64)) {
    pieces { uuidText(id) }
  }

  func uuidText(_ id: (UInt64, UInt64)) {
    hex(id.0 >> 32, count: 8)
    byte(UInt8(ascii: "-"))
    hex(id.0 >> 16, count: 4)
    raw("-4")
    hex(id.0, count: 3)
    byte(UInt8(ascii: "-"))
    hex(id.1 >> 48 & 0x3FFF | 0x8000, count: 4)
    byte(UInt8(ascii: "-"))
    hex(id.1, count: 12)
  }
}
