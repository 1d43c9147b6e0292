import Foundation
import Testing

/// What the gate links, looked at in an executable that depends on the gate alone: neither
/// Foundation nor Kafka; and what a decision allocates, counted in one.
@Suite struct LinkageTests {
  /// The folder of the package's products: where this test's own executable is.
  static let products: URL = {
    let own = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    return own.deletingLastPathComponent()
  }()

  private func run(_ path: String, _ arguments: [String]) throws -> (status: Int32, text: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: bytes, as: UTF8.self))
  }

  @Test func neitherFoundationNorKafka() throws {
    for product in ["alloc-check", "kernel-bench"] {
      let path = Self.products.appendingPathComponent(product).path
      let listed = try run("/usr/bin/ldd", [path])
      #expect(listed.status == 0, "\(listed.text)")
      #expect(listed.text.contains("libsimdjson"), "not the gate: \(listed.text)")
      for library in ["Foundation", "rdkafka", "microhttpd", "icu"] {
        #expect(!listed.text.contains(library), "\(product) links \(library)")
      }
    }
  }

  @Test func noSourceOfTheGateImportsThem() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let gate = root.appendingPathComponent("Sources/Gate")
    let files = FileManager.default.enumerator(at: gate, includingPropertiesForKeys: nil)!
    var imports: Set<String> = []
    for case let file as URL in files where file.pathExtension == "swift" {
      for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      where line.hasPrefix("import ") || line.hasPrefix("@testable import ") {
        imports.insert(String(line))
      }
    }
    #expect(
      imports == [
        "import CCrypto", "import CJSON", "import CShims", "import Glibc", "import Synchronization",
      ])
  }

  /// Nothing in steady state, where the code is optimised. Without, closures go to the heap, and the
  /// check must see them: so each build proves the half that it can, and the release build's
  /// `alloc-check`, run by itself, is the one that counts.
  @Test func aDecisionAllocatesNothing() throws {
    let path = Self.products.appendingPathComponent("alloc-check").path
    let checked = try run(path, ["12000"])
    #if DEBUG
      #expect(checked.status == 1 && checked.text.contains("FAILED"), "\(checked.text)")
    #else
      #expect(checked.status == 0, "\(checked.text)")
    #endif
  }
}
