import CBroker
import Glibc

/// One client's connection: bytes in, frames out of them, answers and their bytes out.
///
/// One request at a time is worked on, as Kafka does: the next frame waits until the answer to the
/// one before is given, so that answers come in the order of their requests.
final class Connection {
  /// Kafka's `socket.request.max.bytes`.
  static let frameBytesMax = 100 << 20
  /// How much is read ahead while a request is worked on.
  private static let readAheadBytesMax = 4 << 20

  let descriptor: Int32
  let peer: String

  /// The request that is being worked on.
  var pending: (id: RequestId, header: RequestHeader)?

  private var input = ByteBlock(capacity: 64 << 10)
  private var inputStart = 0
  private var inputEnd = 0
  private var output: [ByteSlice] = []
  private var outputHead = 0

  init(descriptor: Int32, peer: String) {
    self.descriptor = descriptor
    self.peer = peer
  }

  deinit { close(descriptor) }

  enum ReadResult {
    case more
    case drained
    case full
    case ended
  }

  // MARK: In

  /// Reads what has come, as far as there is room.
  func read() -> ReadResult {
    if inputEnd == input.capacity { makeRoom() }
    let room = input.capacity - inputEnd
    if room == 0 { return .full }
    let count = recv(descriptor, input.base + inputEnd, room, 0)
    if count > 0 {
      inputEnd += count
      return count == room ? .more : .drained
    }
    if count < 0, errno == EAGAIN || errno == EINTR { return .drained }
    return .ended
  }

  /// The next whole frame, less its length; nil when it has not all come. Throws when the length
  /// cannot be one.
  func nextFrame() throws(WireError) -> ByteSlice? {
    guard let length = try frameLength(), inputEnd - inputStart >= 4 + length else { return nil }
    defer { inputStart += 4 + length }
    return ByteSlice(block: input, offset: inputStart + 4, count: length)
  }

  private func frameLength() throws(WireError) -> Int? {
    guard inputEnd - inputStart >= 4 else { return nil }
    let length = Int(UnsafeRawPointer(input.base).big(inputStart) as Int32)
    guard (0...Self.frameBytesMax).contains(length) else { throw .badLength(length) }
    return length
  }

  /// Moves what is unread to the front of a block that has room for the frame it begins. The block
  /// is a new one when someone still holds a slice of this one, such as a request held back.
  private func makeRoom() {
    let unread = inputEnd - inputStart
    let frame = (try? frameLength()) ?? nil
    if pending != nil, unread >= Self.readAheadBytesMax { return }
    let needed = max(4 + (frame ?? 0), unread + (16 << 10), 64 << 10)
    if needed <= input.capacity, isKnownUniquelyReferenced(&input) {
      if inputStart == 0 { return }
      memmove(input.base, input.base + inputStart, unread)
    } else {
      let block = ByteBlock(capacity: needed + (64 << 10))
      memcpy(block.base, input.base + inputStart, unread)
      input = block
    }
    inputStart = 0
    inputEnd = unread
  }

  /// Before reading on after all was taken: the whole block is free again.
  func rewind() {
    if inputStart == inputEnd, isKnownUniquelyReferenced(&input) {
      inputStart = 0
      inputEnd = 0
    }
  }

  // MARK: Out

  func enqueue(_ encoded: Codec) {
    let head = ByteSlice(encoded.out)
    var from = 0
    for splice in encoded.splices {
      if splice.at > from { output.append(head.slice(from: from, count: splice.at - from)) }
      output.append(splice.slice)
      from = splice.at
    }
    if head.count > from { output.append(head.slice(from: from, count: head.count - from)) }
  }

  var hasOutput: Bool { outputHead < output.count }

  /// Sends as much as the socket takes; false when the connection is broken.
  func flush() -> Bool {
    while hasOutput {
      let last = min(output.count, outputHead + 64)
      let sent = withUnsafeTemporaryAllocation(of: iovec.self, capacity: 64) { vectors in
        for index in outputHead..<last {
          let slice = output[index]
          vectors[index - outputHead] = iovec(iov_base: slice.start, iov_len: slice.count)
        }
        return writev(descriptor, vectors.baseAddress, Int32(last - outputHead))
      }
      if sent < 0 {
        if errno == EINTR { continue }
        return errno == EAGAIN
      }
      dropSent(sent)
    }
    return true
  }

  private func dropSent(_ count: Int) {
    var left = count
    while left > 0 {
      let first = output[outputHead]
      if left < first.count {
        output[outputHead] = first.slice(from: left, count: first.count - left)
        return
      }
      left -= first.count
      outputHead += 1
    }
    if outputHead == output.count {
      output.removeAll(keepingCapacity: true)
      outputHead = 0
    }
  }
}
