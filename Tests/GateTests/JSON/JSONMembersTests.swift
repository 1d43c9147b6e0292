import Testing

@testable import Gate

/// A member twice in one object is refused, however it is written and however many there are.
@Suite struct JSONMembersTests {
  static let repeated: [String] = [
    #"{"a":1,"a":2}"#, #"{"a":1,"b":2,"a":1}"#, #"{"":1,"":1}"#, #"{"x":{"a":1,"a":1}}"#,
    #"[{"a":1,"a":1}]"#, #"{"x":[{"b":0},{"a":1,"a":1}]}"#, #"{"marketing":1,"m\u0061rketing":2}"#,
    #"{"\u0061":1,"a":2}"#, #"{"a\/b":1,"a/b":2}"#, #"{"\ud83d\ude00":1,"😀":2}"#,
    #"{"abcdefgh":1,"abcdefgX":2,"abcdefgh":3}"#, #"{"a":{"b":1},"a":{"b":1}}"#,
    #"{"a":{"a":{"a":1,"a":2}}}"#,
  ]

  static let distinct: [String] = [
    #"{"a":{"a":{"a":1}}}"#, #"[{"a":1},{"a":1}]"#, #"{"a":1,"A":2,"a ":3," a":4}"#,
    #"{"abcdefg1":1,"abcdefg2":2}"#, #"{"a":[{"b":1},{"b":2}],"b":3}"#,
    #"{"é":1,"é":2}"#, #"{"\u0000":1,"":2}"#, #"{"a\u0000":1,"a":2}"#,
    #"{"x":{"a":1},"y":{"a":1},"a":1}"#,
  ]

  @Test func repeatedMembersAreRefused() {
    for text in Self.repeated {
      #expect(gateReads(text) == .failure(.repeatedMember), "\(text)")
      #expect(gateSkips(Array(text.utf8)) == .repeatedMember, "\(text)")
    }
  }

  /// What is carried unread keeps its members to itself.
  @Test func opaqueValuesMayRepeat() {
    for text in Self.repeated { #expect(gateSkips(Array(text.utf8), opaque: true) == nil) }
  }

  @Test func distinctMembersAreNot() {
    for text in Self.distinct {
      #expect((try? gateReads(text).get()) == (try? StrictParser.parse(text)), "\(text)")
    }
  }

  /// Every size around the change to a hash table, with a repetition of each member, and none.
  @Test func manyMembers() {
    for size in [2, 22, 23, 24, 25, 26, 60, 300] {
      let names = (0..<size).map { "member-\($0)" }
      let object = { (names: [String]) in
        "{" + names.map { "\"\($0)\":0" }.joined(separator: ",") + "}"
      }
      #expect(gateSkips(Array(object(names).utf8)) == nil)
      for name in names {
        #expect(gateSkips(Array(object(names + [name]).utf8)) == .repeatedMember)
      }
    }
  }

  /// Large objects in large objects: neither takes the other's names for its own, nor forgets them.
  @Test func largeObjectsInside() {
    let inner = { (size: Int) in
      "{" + (0..<size).map { "\"n\($0)\":\($0)" }.joined(separator: ",") + "}"
    }
    for innerSize in [3, 24, 25, 26, 90] {
      for outerSize in [10, 24, 25, 26, 120] {
        let members = (0..<outerSize).map { "\"n\($0)\":\($0 % 3 == 0 ? inner(innerSize) : "1")" }
        let text = "{" + members.joined(separator: ",") + "}"
        #expect(gateSkips(Array(text.utf8)) == nil, "\(innerSize) in \(outerSize)")
        for at in [0, 1, outerSize / 2, outerSize - 1] {
          let again = "{" + (members + ["\"n\(at)\":0"]).joined(separator: ",") + "}"
          #expect(gateSkips(Array(again.utf8)) == .repeatedMember, "\(at): \(outerSize)")
          let innerAgain =
            text.dropLast() + ",\"last\":"
            + inner(innerSize).dropLast() + ",\"n\(at % innerSize)\":0}}"
          #expect(gateSkips(Array(String(innerAgain).utf8)) == .repeatedMember)
        }
      }
    }
  }

  /// A text refused in the middle of large objects leaves nothing behind for the next one.
  @Test func nothingIsLeftBehind() {
    let names = MemberNames(seed: 5)
    let indexer = JSONIndexer(capacity: 1 << 20)
    let scratch = UnsafeMutablePointer<UInt8>.allocate(capacity: 1 << 20)
    defer { scratch.deallocate() }
    let members = (0..<4_000).map { "\"n\($0)\":{\"n\($0)\":0}" }.joined(separator: ",")
    for (text, fault) in [
      ("{\(members),\"n7\":0}", JSONFault.repeatedMember), ("{\(members)}", nil),
      ("{\(members)", .malformedJSON), ("{\(members)}", nil),
    ] as [(String, JSONFault?)] {
      let found: JSONFault? = withBytes(text) { bytes in
        do throws(JSONFault) {
          var reader = JSONReader(
            bytes, positions: try indexer.index(bytes), scratch: scratch, names: names)
          try reader.skip()
          try reader.finish()
          return nil
        } catch {
          return error
        }
      }
      #expect(found == fault)
    }
  }
}
