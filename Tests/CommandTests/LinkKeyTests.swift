import Foundation
import Gate
import Testing

@testable import sendgate

/// The key file of signed links: made, rotated, and read with suspicion.
@Suite struct LinkKeyTests {
  private static let zeros = String(repeating: "0", count: 64)

  private func linkKey(_ words: String...) -> (code: Int32, out: String, error: String) {
    dispatch(["link-key"] + words)
  }

  @Test func theWholeLifeOfAKey() throws {
    try withFolder { folder in
      let path = "\(folder)/links.keys"
      #expect(linkKey("new", "--file", path).code == 0)
      let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
      #expect(mode == 0o600)
      let first = try LinkKeyFile.read(path)
      #expect(first.signingID == 1 && first.all.map(\.id) == [1])
      #expect(first.all[0].secret.count == 32 && Set(first.all[0].secret).count > 8)

      // The second one is known before it signs.
      #expect(linkKey("new", "--file", path).code == 0)
      let second = try LinkKeyFile.read(path)
      #expect(second.signingID == 1 && second.all.map(\.id) == [1, 2])
      #expect(second.all[0] == first.all[0] && second.all[0].secret != second.all[1].secret)
      #expect(linkKey("remove", "--id", "1", "--file", path).code == 65)
      #expect(linkKey("sign", "--id", "9", "--file", path).code == 65)
      #expect(linkKey("sign", "--id", "2", "--file", path).code == 0)
      #expect(try LinkKeyFile.read(path).keys.signingID == 2)
      #expect(linkKey("list", "--file", path).code == 0)
      #expect(linkKey("remove", "--id", "1", "--file", path).code == 0)
      let last = try LinkKeyFile.read(path)
      #expect(last.all == [second.all[1]] && last.signingID == 2)
      // An id is never given twice while it is the highest.
      #expect(linkKey("new", "--file", path).code == 0)
      #expect(try LinkKeyFile.read(path).all.map(\.id) == [2, 3])
      #expect(!FileManager.default.fileExists(atPath: path + ".new"))

      // What one key has signed the other does not.
      let link = Link(
        purpose: .undo, category: .social, userID: "u", notificationID: nil, expiresAtSeconds: 9)
      let token = LinkWriter(first.keys).token(link)
      #expect(LinkVerifier(second.keys).verify(token, nowSeconds: 8) == .success(link))
      #expect(LinkVerifier(last.keys).verify(token, nowSeconds: 8) == .failure(.unknownKey))
    }
  }

  @Test func whatIsMissingIsSaid() throws {
    try withFolder { folder in
      let path = "\(folder)/none"
      #expect(linkKey("new").code == 64 && linkKey("sign", "--file", path).code == 64)
      #expect(linkKey("list", "--file", path).code == 66)
      #expect(linkKey("sign", "--id", "0", "--file", path).code == 64)
      #expect(linkKey("new", "--file", "\(folder)/nowhere/links").code == 73)
      // Of a change that was cut off.
      #expect(linkKey("new", "--file", path).code == 0)
      #expect(FileManager.default.createFile(atPath: path + ".new", contents: nil))
      let second = linkKey("new", "--file", path)
      #expect(second.code == 73 && second.error.contains("cut off"))
      let left = try LinkKeyFile.read(path)
      #expect(left.all.count == 1)
    }
  }

  @Test func aFileOpenToOthersIsRefused() throws {
    try withFolder { folder in
      let path = "\(folder)/links"
      #expect(linkKey("new", "--file", path).code == 0)
      for (mode, isGood) in [(0o600, true), (0o400, true), (0o640, false), (0o604, false)] {
        #expect(chmod(path, mode_t(mode)) == 0)
        let code = linkKey("list", "--file", path).code
        #expect(code == (isGood ? 0 : 78), "\(String(mode, radix: 8))")
      }
    }
  }

  @Test(
    arguments: [
      ("signing 1\nkey 1 x \(zeros)\n", nil),
      ("# a\n\nkey 1 x \(zeros)\nkey 65535 x \(zeros)\nsigning 65535", nil),
      ("", "says which"), ("signing 2\nkey 1 x \(zeros)\n", "says which"),
      ("key 1 x \(zeros)\n", "says which"), ("signing 1\nsigning 1\nkey 1 x \(zeros)\n", "line 2"),
      ("signing 0\n", "line 1"), ("signing 65536\n", "line 1"), ("signing +1\n", "line 1"),
      ("signing 1\nkey 1 x \(zeros)0\n", "line 2"), ("signing 1\nkey 1 \(zeros)\n", "line 2"),
      ("signing 1\nkey 1 x \(zeros.dropLast())g\n", "line 2"), ("signing 1\nsecret\n", "line 2"),
      ("signing 1\nkey 1 x \(zeros)\nkey 1 x \(zeros)\n", "line 3"),
    ] as [(String, String?)]) func lines(text: String, problem: String?)
  {
    let failure = Result { () throws(CommandFailure) in
      try LinkKeyFile(text: Array(text.utf8), name: "f")
    }
    guard case .failure(let error) = failure else {
      #expect(problem == nil, "\(text)")
      return
    }
    #expect(error.exitCode == 78)
    #expect(problem.map { error.description.contains($0) } == true, "\(error)")
    #expect(!error.description.contains(Self.zeros.prefix(20)))
  }

  @Test func atMostSoManyKeys() throws {
    var file = try LinkKeyFile(nowMs: 0)
    for _ in 1..<LinkKeyFile.keysMax { _ = try file.add(nowMs: 0) }
    let read = try LinkKeyFile(text: Array(file.text.utf8), name: "f")
    #expect(read == file)
    #expect(throws: CommandFailure.self) { _ = try file.add(nowMs: 0) }
  }

  @Test(arguments: [
    ("https://example.com", true), ("https://example.com:8443/a/b-c_d.e~", true),
    ("https://[2001:db8::1]:1", true), ("http://127.0.0.1:8080", true),
    ("http://localhost/x", true), ("http://[::1]:9", true), ("http://example.com", false),
    ("http://127.0.0.1.example.com", false), ("https://example.com/", false),
    ("https://example.com/a/", false), ("https://example.com//a", false), ("https://", false),
    ("https:///a", false), ("https://a@b", false), ("https://a?b", false), ("https://a#b", false),
    ("https://a/\"", false), ("https://a/<", false), ("https://a b", false),
    ("https://a:0", false), ("https://a:65536", false), ("https://a:", false),
    ("https://a:+1", false), ("https://[zz]", false), ("https://[::1", false), ("ftp://a", false),
    ("HTTPS://a", false), ("https://é", false), ("https://a/%2e", false),
    ("https://" + String(repeating: "a", count: 505), false),
  ]) func addresses(address: String, isGood: Bool) {
    #expect((WebAddress.problem(address) == nil) == isGood)
  }
}
