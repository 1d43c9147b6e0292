import Testing

@testable import Gate

/// Sizes on either side of every limit, and any bytes at all.
@Suite struct CandidateLimitsTests {
  private let decoder = TestDecoder()

  private func padded(to bytes: Int) -> [UInt8] {
    let text = candidateJSON(["pad": #""""#])
    let fill = String(repeating: "x", count: bytes - text.utf8.count)
    return Array(candidateJSON(["pad": "\"\(fill)\""]).utf8)
  }

  @Test func recordSizes() {
    for bytesMax in [1_024, 65_536] {
      for (bytes, isFine) in [(bytesMax - 1, true), (bytesMax, true), (bytesMax + 1, false)] {
        let decoded = decoder.decode(padded(to: bytes), bytesMax: bytesMax)
        #expect(decoded.invalid == (isFine ? nil : .recordTooLarge), "\(bytes)")
        #expect(decoded.userID == Array("u-1".utf8))
      }
    }
    for bytes in [65_537, 200_000, 900_000, 3_000_000] {
      let decoded = decoder.decode(padded(to: bytes))
      #expect(decoded.invalid == .recordTooLarge && decoded.notificationID == Array("n-1".utf8))
    }
    // Too large is what it is called, whatever else it is.
    let broken = [UInt8](repeating: UInt8(ascii: "["), count: 100_000)
    #expect(decoder.decode(broken).invalid == .recordTooLarge)
    #expect(decoder.decode([UInt8](repeating: 0xFF, count: 100_000)).invalid == .recordTooLarge)
  }

  @Test func depth() {
    for name in ["payload", "x"] {
      let inside = { (depth: Int) in candidateJSON([name: nested(depth, #"{"a":"#, "}", "1")]) }
      #expect(decoder.decode(inside(63)).invalid == nil, "\(name)")
      #expect(decoder.decode(inside(64)).invalid == .tooDeep, "\(name)")
    }
  }

  /// Every escape of a batch's candidates has its place, up to the largest record of nothing but.
  @Test func escapesFillTheScratch() {
    var batch = CandidateDecoder(batchRecordsMax: 64, seed: 1)
    let fill = String(repeating: #"\n"#, count: 32_000)
    let value = Array(candidateJSON(["user_id": #""\u0075-1""#, "category": "\"\(fill)\""]).utf8)
    batch.startBatch()
    let candidates = (0..<64).map { _ in
      value.withUnsafeBytes { Decoded(batch.decode($0, bytesMax: 65_536)) }
    }
    for candidate in candidates {
      #expect(candidate.userID == Array("u-1".utf8))
      #expect(candidate.categoryText == [UInt8](repeating: 10, count: 32_000))
    }
  }

  /// Any bytes end as a candidate or as the reason why they are none; what the second parser refuses
  /// is never a candidate, and the other way round.
  @Test func mutatedBytes() {
    var generator = SeededGenerator()
    let seed = generator.seed
    let texts = [
      candidateJSON([
        "device_id": #""d-é\u00e9""#, "event": #""e""#, "critical": "false",
        "created_at": #""2026-01-15T06:00:00Z""#, "expires_at": "1768456800001",
        "payload": #"{"t":"x\n","a":[1,2.5e3,null]}"#, "other": #"[{"a":{}}]"#,
      ]),
      candidateJSON([:]), candidateJSON(["payload": "{}"]),
    ].map { Array($0.utf8) }
    for round in 0..<200_000 {
      var text = texts[round % texts.count]
      for _ in 0...Int.random(in: 0..<3, using: &generator) {
        let at = Int.random(in: 0..<text.count, using: &generator)
        switch UInt8.random(in: 0..<5, using: &generator) {
        case 0: text.remove(at: at)
        case 1: text.insert(UInt8.random(in: 0...255, using: &generator), at: at)
        case 2: text.swapAt(at, Int.random(in: 0..<text.count, using: &generator))
        case 3: text[at] = Array("{}[]:,\"\\0".utf8).randomElement(using: &generator)!
        default: text[at] = UInt8.random(in: 0...255, using: &generator)
        }
        if text.isEmpty { text = [0] }
      }
      let decoded = decoder.decode(text)
      // The slow parser for a share of them.
      guard round % 16 == 0 else { continue }
      let notJSON: [InvalidDetail] = [.malformedJSON, .malformedUTF8, .tooDeep]
      let isRefused = decoded.invalid.map { notJSON.contains($0) } ?? false
      let parsed = Result { () throws(StrictParser.Fault) in try StrictParser.parse(text) }
      let wanted: Bool
      switch parsed {
      case .success: wanted = false
      // Members that repeat in the payload, and escapes nobody reads, are the parser's alone to
      // refuse; it may meet them before the fault that the gate names.
      case .failure(.repeated), .failure(.surrogate): continue
      case .failure: wanted = true
      }
      guard
        isRefused == wanted || decoded.invalid == .repeatedMember
          || decoded.invalid == .malformedString
      else {
        Issue.record("seed \(seed): \(String(decoding: text, as: UTF8.self)) \(decoded)")
        return
      }
    }
  }
}
