import CLZ4
import Glibc

/// What a hold carries: its record's value and headers, both opaque here. Borrowed.
public struct HoldPayload {
  public var value: UnsafeRawBufferPointer
  /// The candidate's headers in whatever form the sink reads them; they go to every record made of
  /// the hold.
  public var headers: UnsafeRawBufferPointer

  public init(
    value: UnsafeRawBufferPointer,
    headers: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
  ) {
    self.value = value
    self.headers = headers
  }
}

/// Payloads in memory: appended to an open block of 64 KiB, which is compressed when it is full, freed
/// when the last of its holds has gone, and dropped before that where memory is over its limit and all
/// of it can be read from the topic again.
final class PayloadBlocks {
  struct Location: Equatable {
    var block: UInt32
    var position: UInt16
  }

  static let blockBytes = 65_536
  /// Blocks have 24 bits.
  static let blocksMax = 1 << 24
  private static let frameBytes = 8

  private struct Block {
    /// Nil where dropped.
    var bytes: UnsafeMutableRawPointer?
    var storedBytes: Int32 = 0
    var rawBytes: Int32 = 0
    var live: Int32 = 0
    /// Holds whose offset in the topic is not known yet: they cannot be read again.
    var unknown: Int32 = 0
    /// Tells apart the blocks that have had this number.
    var sequence: UInt32 = 0
  }

  private var blocks: [Block] = []
  private var freeNumbers: [UInt32] = []
  private var open: UInt32?
  private let openBytes = UnsafeMutableRawPointer.allocate(
    byteCount: PayloadBlocks.blockBytes, alignment: 8)
  private let scratch = UnsafeMutableRawPointer.allocate(
    byteCount: Int(clz4_bound(Int32(PayloadBlocks.blockBytes))), alignment: 8)
  /// What was unpacked last.
  private var unpacked: UnsafeMutableRawPointer
  private var unpackedCapacity = PayloadBlocks.blockBytes
  private var unpackedSequence: UInt32 = 0
  private var unpackedBytes = 0
  /// Sealed blocks, oldest first: the order in which they are dropped.
  private var sealed: [(number: UInt32, sequence: UInt32)] = []
  private var nextSequence: UInt32 = 1
  private(set) var memoryBytes = PayloadBlocks.blockBytes
  private(set) var droppedBlocks = 0
  let bytesMax: Int
  /// Where nothing could be dropped, it is not tried again for every block.
  private var dropAgainAtBytes = 0

  init(bytesMax: Int) {
    self.bytesMax = bytesMax
    unpacked = .allocate(byteCount: Self.blockBytes, alignment: 8)
  }

  deinit {
    for block in blocks { free(block.bytes) }
    openBytes.deallocate()
    scratch.deallocate()
    unpacked.deallocate()
  }

  func append(_ payload: HoldPayload, offsetKnown: Bool) -> Location {
    let bytes = Self.frameBytes + payload.headers.count + payload.value.count
    if bytes > Self.blockBytes { return appendLarge(payload, bytes, offsetKnown) }
    if let number = open, Int(blocks[Int(number)].rawBytes) + bytes > Self.blockBytes {
      seal(number)
    }
    let number = open ?? newBlock()
    open = number
    let position = blocks[Int(number)].rawBytes
    Self.write(payload, to: openBytes + Int(position))
    blocks[Int(number)].rawBytes += Int32(bytes)
    blocks[Int(number)].live += 1
    if !offsetKnown { blocks[Int(number)].unknown += 1 }
    return Location(block: number, position: UInt16(position))
  }

  /// A payload that no block holds has one of its own.
  private func appendLarge(
    _ payload: HoldPayload, _ bytes: Int, _ offsetKnown: Bool
  ) -> Location {
    let number = newBlock()
    let raw = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 8)
    defer { raw.deallocate() }
    Self.write(payload, to: raw)
    blocks[Int(number)].rawBytes = Int32(bytes)
    blocks[Int(number)].live = 1
    blocks[Int(number)].unknown = offsetKnown ? 0 : 1
    let bound = Int(clz4_bound(Int32(bytes)))
    let packed = UnsafeMutableRawPointer.allocate(byteCount: bound, alignment: 8)
    defer { packed.deallocate() }
    keep(number, raw, packed, bound)
    return Location(block: number, position: 0)
  }

  private static func write(_ payload: HoldPayload, to out: UnsafeMutableRawPointer) {
    out.storeBytes(of: UInt32(payload.headers.count), as: UInt32.self)
    out.storeBytes(of: UInt32(payload.value.count), toByteOffset: 4, as: UInt32.self)
    let headers = out + frameBytes
    if let start = payload.headers.baseAddress { memcpy(headers, start, payload.headers.count) }
    if let start = payload.value.baseAddress {
      memcpy(headers + payload.headers.count, start, payload.value.count)
    }
  }

  private func newBlock() -> UInt32 {
    var block = Block()
    block.sequence = nextSequence
    nextSequence &+= 1
    if let number = freeNumbers.popLast() {
      blocks[Int(number)] = block
      return number
    }
    precondition(blocks.count < Self.blocksMax, "more than \(Self.blocksMax) payload blocks")
    blocks.append(block)
    return UInt32(blocks.count - 1)
  }

  private func seal(_ number: UInt32) {
    open = nil
    guard blocks[Int(number)].live > 0 else { return forget(number) }
    keep(number, openBytes, scratch, Int(clz4_bound(Int32(Self.blockBytes))))
  }

  private func keep(
    _ number: UInt32, _ raw: UnsafeMutableRawPointer, _ packed: UnsafeMutableRawPointer,
    _ capacity: Int
  ) {
    let length = clz4_compress(raw, blocks[Int(number)].rawBytes, packed, Int32(capacity))
    precondition(length > 0, "the bound of LZ4 does not hold")
    guard let bytes = malloc(Int(length)) else { preconditionFailure("out of memory") }
    memcpy(bytes, packed, Int(length))
    blocks[Int(number)].bytes = bytes
    blocks[Int(number)].storedBytes = length
    memoryBytes += Int(length)
    sealed.append((number, blocks[Int(number)].sequence))
    if memoryBytes > max(bytesMax, dropAgainAtBytes) { dropOldest() }
  }

  private func dropOldest() {
    var kept: [(number: UInt32, sequence: UInt32)] = []
    for entry in sealed where isIn(entry) {
      if memoryBytes > bytesMax && blocks[Int(entry.number)].unknown == 0 {
        freeBytes(entry.number)
        droppedBlocks += 1
      } else {
        kept.append(entry)
      }
    }
    sealed = kept
    dropAgainAtBytes = memoryBytes > bytesMax ? memoryBytes + memoryBytes / 16 : 0
  }

  private func isIn(_ entry: (number: UInt32, sequence: UInt32)) -> Bool {
    let block = blocks[Int(entry.number)]
    return block.sequence == entry.sequence && block.bytes != nil
  }

  private func freeBytes(_ number: UInt32) {
    guard let bytes = blocks[Int(number)].bytes else { return }
    free(bytes)
    memoryBytes -= Int(blocks[Int(number)].storedBytes)
    blocks[Int(number)].bytes = nil
  }

  private func forget(_ number: UInt32) {
    freeBytes(number)
    blocks[Int(number)] = Block()
    freeNumbers.append(number)
    if sealed.count > 64 + 2 * blocks.count { sealed.removeAll { !isIn($0) } }
  }

  /// One of its holds has gone.
  func release(_ location: Location, offsetKnown: Bool) {
    let number = Int(location.block)
    blocks[number].live -= 1
    if !offsetKnown { blocks[number].unknown -= 1 }
    if blocks[number].live == 0, open != location.block { forget(location.block) }
  }

  /// One of its holds can be read from the topic now; where all can and memory is short, the block goes.
  func offsetBecameKnown(_ location: Location) {
    let number = location.block
    blocks[Int(number)].unknown -= 1
    guard memoryBytes > bytesMax, blocks[Int(number)].unknown == 0,
      blocks[Int(number)].bytes != nil
    else { return }
    freeBytes(number)
    droppedBlocks += 1
    dropAgainAtBytes = 0
  }

  /// Over the limit, with nothing that could be dropped.
  var isStuck: Bool { dropAgainAtBytes > 0 && memoryBytes > bytesMax }

  /// Nil where it was dropped. Lives until the next call; those of one block, in order of their
  /// position, unpack it once.
  func read(_ location: Location) -> HoldPayload? {
    if open == location.block { return Self.frame(openBytes + Int(location.position)) }
    let block = blocks[Int(location.block)]
    guard let bytes = block.bytes else { return nil }
    if unpackedSequence != block.sequence || unpackedBytes < Int(block.rawBytes) {
      unpack(block, bytes)
    }
    return Self.frame(unpacked + Int(location.position))
  }

  private func unpack(_ block: Block, _ bytes: UnsafeMutableRawPointer) {
    if Int(block.rawBytes) > unpackedCapacity {
      unpacked.deallocate()
      unpackedCapacity = Int(block.rawBytes)
      unpacked = .allocate(byteCount: unpackedCapacity, alignment: 8)
    }
    let length = clz4_decompress(
      bytes, block.storedBytes, unpacked, block.rawBytes, block.rawBytes)
    precondition(length == block.rawBytes, "a payload block is broken in memory")
    unpackedSequence = block.sequence
    unpackedBytes = Int(length)
  }

  private static func frame(_ start: UnsafeMutableRawPointer) -> HoldPayload {
    // A frame starts where the one before it ended.
    let headers = Int(start.loadUnaligned(as: UInt32.self))
    let value = Int(start.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
    let body = start + frameBytes
    return HoldPayload(
      value: UnsafeRawBufferPointer(start: body + headers, count: value),
      headers: UnsafeRawBufferPointer(start: body, count: headers))
  }
}
