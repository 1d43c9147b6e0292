/// A device that a counted notification was approved for.
struct CapDevice: Equatable {
  /// The same in every process: it is on the state topic.
  var hash: UInt64
  var next: UInt32 = 0
  var isRejected = false

  /// Not keyed: who chooses device ids so that two agree can, at most, have a refund of their own
  /// come early.
  static func hash(_ id: Bytes) -> UInt64 { SipHash(key: (0, 0)).hash(id).first }
}

/// Short lists of devices. A list never changes: what differs is a copy, and the old one stays good
/// until the transaction is committed.
struct CapDevices {
  /// As many as a user may have at a time.
  static let max = 64

  private let nodes = Runs<CapDevice>(widthShift: 0)

  var memoryBytes: Int { nodes.memoryBytes }

  subscript(name: UInt32) -> CapDevice { nodes[name].pointee }

  private func forEach(_ list: UInt32, _ body: (CapDevice) -> Void) {
    var at = list
    while at != 0 {
      body(nodes[at].pointee)
      at = nodes[at].pointee.next
    }
  }

  func count(_ list: UInt32) -> Int {
    var count = 0
    forEach(list) { _ in count += 1 }
    return count
  }

  func find(_ list: UInt32, _ hash: UInt64) -> CapDevice? {
    var at = list
    while at != 0 {
      if nodes[at].pointee.hash == hash { return nodes[at].pointee }
      at = nodes[at].pointee.next
    }
    return nil
  }

  func contains(_ list: UInt32, _ hash: UInt64) -> Bool { find(list, hash) != nil }

  /// Whether all but one are rejected.
  func isLastWaiting(_ list: UInt32) -> Bool {
    var waiting = 0
    forEach(list) { if !$0.isRejected { waiting += 1 } }
    return waiting == 1
  }

  func copy(_ list: UInt32, adding device: CapDevice) -> UInt32 {
    add(copy(list) { $0 }, device)
  }

  func copy(_ list: UInt32, rejecting hash: UInt64) -> UInt32 {
    copy(list) { device in
      var device = device
      if device.hash == hash { device.isRejected = true }
      return device
    }
  }

  private func copy(_ list: UInt32, _ change: (CapDevice) -> CapDevice) -> UInt32 {
    var head: UInt32 = 0
    var last: UInt32 = 0
    forEach(list) { device in
      let name = add(0, change(device))
      if last == 0 { head = name } else { nodes[last].pointee.next = name }
      last = name
    }
    return head
  }

  /// Puts a device in front of a list, which becomes part of the new one.
  func add(_ list: UInt32, _ device: CapDevice) -> UInt32 {
    let name = nodes.take()
    nodes[name].initialize(
      to: CapDevice(hash: device.hash, next: list, isRejected: device.isRejected))
    return name
  }

  func free(_ list: UInt32) {
    var at = list
    while at != 0 {
      let next = nodes[at].pointee.next
      nodes.give(at)
      at = next
    }
  }
}
