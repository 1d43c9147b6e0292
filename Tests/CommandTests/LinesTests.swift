import Glibc
import Testing

@testable import sendgate

@Suite struct LinesTests {
  /// The lines of `text`, read through a pipe.
  private func lines(_ text: [UInt8]) throws -> [[UInt8]] {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    let writer = ends[1]
    var thread = pthread_t()
    let box = Unmanaged.passRetained(Box(descriptor: writer, bytes: text))
    pthread_create(
      &thread, nil,
      { raw in
        let box = Unmanaged<Box>.fromOpaque(raw!).takeRetainedValue()
        _ = box.bytes.withUnsafeBytes { FileIO.writeAll($0, to: box.descriptor) }
        close(box.descriptor)
        return nil
      }, box.toOpaque())
    var reader = LineReader(descriptor: ends[0], name: "pipe", closesAtEnd: true)
    var found: [[UInt8]] = []
    while let line = try reader.next() { found.append(Array(line)) }
    pthread_join(thread, nil)
    return found
  }

  private final class Box: Sendable {
    let descriptor: Int32
    let bytes: [UInt8]
    init(descriptor: Int32, bytes: [UInt8]) {
      self.descriptor = descriptor
      self.bytes = bytes
    }
  }

  @Test(arguments: [
    ("", []),
    ("a", ["a"]),
    ("a\n", ["a"]),
    ("a\n\nb", ["a", "", "b"]),
    ("\n", [""]),
  ])
  func splits(_ text: String, _ wanted: [String]) throws {
    #expect(try lines(Array(text.utf8)) == wanted.map { Array($0.utf8) })
  }

  @Test func linesOfAnyLengthAndAnyBytes() throws {
    let long = [UInt8](repeating: 0xFF, count: 1_000_003)
    let all = [long, [], [0, 1, 0x0D], long + [1]]
    #expect(try lines(Array(all.joined(separator: [0x0A]))) == all)
  }
}
