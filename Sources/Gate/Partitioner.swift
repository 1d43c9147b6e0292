/// placeholder, replaced at merge
enum Partitioner {
  static func partition(forKey key: UnsafeRawBufferPointer, count: Int32) -> Int32 { 0 }
}
