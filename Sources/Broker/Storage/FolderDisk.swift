import Glibc

/// A disk that is a folder. What is appended has gone to the kernel before the call returns, so it
/// outlives the process; it does not outlive the machine, since nothing waits for the device.
public final class FolderDisk: Disk {
  private let root: String
  /// Files being appended to, kept open.
  private var open: [String: Int32] = [:]
  private let failed: (String) -> Never
  private var lock: Int32 = -1

  /// - Parameter failed: called with what went wrong when a file cannot be written or read. The
  ///   broker cannot go on, since it would acknowledge what it did not keep.
  public init(root: String, failed: @escaping (String) -> Never) {
    self.root = root
    self.failed = failed
    makeFolder(root)
    // Two brokers in one folder would write into each other's logs. The lock goes with the process.
    lock = Glibc.open(root + "/lock", O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
    if lock < 0 { fail("cannot open", "lock") }
    if flock(lock, LOCK_EX | LOCK_NB) != 0 { failed("\(root) is in use by another broker") }
  }

  deinit {
    close(lock)
    for descriptor in open.values { close(descriptor) }
  }

  private func path(_ file: String) -> String { root + "/" + file }

  private func fail(_ what: String, _ file: String) -> Never {
    failed("\(what) \(path(file)): \(String(cString: strerror(errno)))")
  }

  private func makeFolder(_ folder: String) {
    if mkdir(folder, 0o755) == 0 || errno == EEXIST { return }
    guard errno == ENOENT, let slash = folder.lastIndex(of: "/"), slash != folder.startIndex else {
      failed("cannot make folder \(folder): \(String(cString: strerror(errno)))")
    }
    makeFolder(String(folder[..<slash]))
    if mkdir(folder, 0o755) != 0, errno != EEXIST {
      failed("cannot make folder \(folder): \(String(cString: strerror(errno)))")
    }
  }

  private func descriptor(_ file: String) -> Int32 {
    if let known = open[file] { return known }
    let path = path(file)
    makeFolder(String(path[..<path.lastIndex(of: "/")!]))
    let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    if descriptor < 0 { fail("cannot open", file) }
    // Descriptors are few: a broker with thousands of partitions opens again what it closed.
    if open.count >= 512 {
      for descriptor in open.values { close(descriptor) }
      open.removeAll(keepingCapacity: true)
    }
    open[file] = descriptor
    return descriptor
  }

  public func append(_ file: String, _ bytes: UnsafeRawBufferPointer) {
    writeAll(descriptor(file), bytes, file)
  }

  private func writeAll(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, _ file: String) {
    var done = 0
    while done < bytes.count {
      let count = write(descriptor, bytes.baseAddress! + done, bytes.count - done)
      if count > 0 { done += count } else if errno != EINTR { fail("cannot write", file) }
    }
  }

  public func replace(_ file: String, _ bytes: [UnsafeRawBufferPointer]) {
    let temporary = file + ".new"
    remove(temporary)
    let descriptor = descriptor(temporary)
    for piece in bytes { writeAll(descriptor, piece, temporary) }
    forget(temporary)
    forget(file)
    if rename(path(temporary), path(file)) != 0 { fail("cannot replace", file) }
  }

  public func truncate(_ file: String, to size: Int) {
    forget(file)
    if Glibc.truncate(path(file), off_t(size)) != 0 { fail("cannot truncate", file) }
  }

  public func remove(_ file: String) {
    forget(file)
    if unlink(path(file)) != 0, errno != ENOENT { fail("cannot remove", file) }
  }

  private func forget(_ file: String) {
    if let descriptor = open.removeValue(forKey: file) { close(descriptor) }
  }

  public func files() -> [String] {
    var result: [String] = []
    list("", into: &result)
    return result
  }

  private func list(_ prefix: String, into result: inout [String]) {
    guard let folder = opendir(root + "/" + prefix) else { return }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name == "." || name == ".." { continue }
      let file = prefix.isEmpty ? name : prefix + "/" + name
      if entry.pointee.d_type == UInt8(DT_DIR) {
        list(file, into: &result)
      } else {
        result.append(file)
      }
    }
  }

  public func read(_ file: String) -> ByteSlice {
    let descriptor = Glibc.open(path(file), O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return ByteSlice([]) }
      fail("cannot open", file)
    }
    defer { close(descriptor) }
    var status = stat()
    if fstat(descriptor, &status) != 0 { fail("cannot read", file) }
    let size = Int(status.st_size)
    let block = ByteBlock(capacity: size)
    var done = 0
    while done < size {
      let count = Glibc.read(descriptor, block.base + done, size - done)
      if count > 0 {
        done += count
      } else if count == 0 || errno != EINTR {
        fail("cannot read", file)
      }
    }
    return ByteSlice(block: block, offset: 0, count: size)
  }
}
