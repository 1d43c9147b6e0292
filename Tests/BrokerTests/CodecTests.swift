import Glibc
import Testing

@testable import Broker

@Suite struct CodecTests {
  struct Vector: CustomStringConvertible {
    var key: ApiKey
    var version: Int16
    var isRequest: Bool
    var bytes: [UInt8]

    var description: String { "\(key.name) \(version) \(isRequest ? "request" : "response")" }
  }

  /// Messages made from Kafka's own layout files by a program that knows nothing of this codec.
  static let vectors: [Vector] = {
    let here = #filePath.split(separator: "/").dropLast().joined(separator: "/")
    guard let file = fopen("/\(here)/Vectors/messages.txt", "r") else { return [] }
    defer { fclose(file) }
    var text: [UInt8] = []
    while case let byte = fgetc(file), byte != EOF { text.append(UInt8(byte)) }
    return String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      guard words.count == 4, let version = Int16(words[1]),
        let key = ApiKey.allCases.first(where: { $0.name == words[0] })
      else { return nil }
      let digits = Array(words[3].utf8)
      let bytes = stride(from: 0, to: digits.count - 1, by: 2).map { at in
        UInt8(String(decoding: digits[at..<at + 2], as: UTF8.self), radix: 16)!
      }
      return Vector(
        key: key, version: version, isRequest: words[2] == "request", bytes: bytes)
    }
  }()

  @Test func everyMessageOfEveryVersionIsReadAndWrittenBack() throws {
    var seen: Set<String> = []
    for vector in Self.vectors {
      seen.insert(vector.description)
      let flexible = vector.key.isFlexible(vector.version)
      var input = Codec(
        reading: ByteSlice(vector.bytes), version: vector.version, flexible: flexible)
      var output = Codec(writingVersion: vector.version, flexible: flexible)
      if vector.isRequest {
        try Request.decode(vector.key, &input).encode(&output)
      } else {
        try Response.decode(vector.key, &input).encode(&output)
      }
      #expect(input.remaining == 0, "\(vector)")
      #expect(output.flat == vector.bytes, "\(vector)")
    }
    let all = ApiKey.allCases.reduce(0) { $0 + $1.support.versions.count } * 2
    #expect(seen.count == all)
  }

  @Test func cutMessagesThrowAndNeverCrash() {
    for vector in Self.vectors where vector.isRequest {
      for cut in 0..<vector.bytes.count {
        var input = Codec(
          reading: ByteSlice(Array(vector.bytes[..<cut])), version: vector.version,
          flexible: vector.key.isFlexible(vector.version))
        #expect(throws: WireError.self, "\(vector) cut at \(cut)") {
          _ = try Request.decode(vector.key, &input)
        }
      }
    }
  }

  @Test func spoiltFramesNeverCrash() {
    var random = SeededRandom(seed: 4711)
    var understood = 0
    var refused = 0
    for round in 0..<20_000 {
      let vector = Self.vectors[Int(random.next() % UInt64(Self.vectors.count))]
      guard vector.isRequest else { continue }
      var frame: [UInt8] = [0, UInt8(vector.key.rawValue), 0, UInt8(vector.version), 0, 0, 0, 7]
      frame += [0, 1, 0x63] + (vector.key.isFlexible(vector.version) ? [0] : []) + vector.bytes
      for _ in 0...Int(random.next() % 4) {
        frame[Int(random.next() % UInt64(frame.count))] = UInt8(truncatingIfNeeded: random.next())
      }
      guard let (header, request) = try? Frame.decode(ByteSlice(frame)) else {
        refused += 1
        continue
      }
      // A broker that takes it answers or waits, and goes on serving others.
      understood += 1
      let sim = Sim()
      sim.topic("other")
      _ = sim.send(request, version: header.version)
      sim.pass(1)
      #expect(sim.produce("x", to: "other").error == .none, "round \(round)")
    }
    #expect(understood > 1_000 && refused > 1_000)
  }

  @Test func headersAreReadAndAnswersFramed() throws {
    let bytes: [UInt8] = [
      0, 12, 0, 4, 0, 0, 0, 9, 0, 1, 0x63, 0, 2, 0x67, 0, 0, 0, 1, 2, 0x6D, 0, 0,
    ]
    let (header, request) = try Frame.decode(ByteSlice(bytes))
    #expect(header.key == .heartbeat && header.version == 4)
    #expect(header.correlationId == 9 && header.clientId == "c")
    guard case .heartbeat(let beat) = request else {
      Issue.record("\(request)")
      return
    }
    #expect(beat.groupId == "g" && beat.memberId == "m" && beat.generationId == 1)
    var response = HeartbeatResponse()
    response.error = .rebalanceInProgress
    let answer = try Frame.encode(
      .heartbeat(response), to: .heartbeat, version: 4, correlationId: 9)
    #expect(answer.flat == [0, 0, 0, 12, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 27, 0])
  }

  @Test func unknownKindsAndVersionsAreToldApart() {
    #expect(throws: WireError.unknownApi(99)) {
      _ = try Frame.decode(ByteSlice([0, 99, 0, 0, 0, 0, 0, 1]))
    }
    #expect(throws: WireError.unsupportedVersion(api: 18, version: 9)) {
      _ = try Frame.decode(ByteSlice([0, 18, 0, 9, 0, 0, 0, 1]))
    }
    #expect(throws: WireError.truncated) { _ = try Frame.decode(ByteSlice([0, 18])) }
  }

  /// The check value of CRC-32C.
  @Test func checksum() {
    var builder = BatchBuilder()
    builder.producerId = 5
    let batch = builder.build([
      Record(key: [1], value: nil, headers: [.init(name: "h", value: [2])])
    ])
    #expect(batch.withUnsafeBytes { BatchView.check($0).error } == .none)
    for index in 21..<batch.count {
      var spoilt = batch
      spoilt[index] ^= 1
      #expect(spoilt.withUnsafeBytes { BatchView.check($0).error } == .corruptMessage)
    }
  }
}

extension Codec {
  /// What was written, with the splices in their places.
  var flat: [UInt8] {
    var result: [UInt8] = []
    var from = 0
    for splice in splices {
      result += out[from..<splice.at]
      result += splice.slice.array
      from = splice.at
    }
    return result + out[from...]
  }
}
