/// How a window is written in documents: `HH:MM` and three-letter weekdays, exactly.
extension QuietWindow {
  /// Minutes after midnight of a start, `00:00` to `23:59`; nil for anything else.
  public static func startMinute(_ text: UnsafeRawBufferPointer) -> UInt16? {
    guard let minute = minute(text), minute < 1440 else { return nil }
    return minute
  }

  /// Minutes after midnight of an end, `00:00` to `24:00`; nil for anything else.
  public static func endMinute(_ text: UnsafeRawBufferPointer) -> UInt16? {
    minute(text)
  }

  /// 0 for `mon` to 6 for `sun`, the bit in `days`; nil for anything else.
  public static func weekday(_ text: UnsafeRawBufferPointer) -> UInt8? {
    guard text.count == 3 else { return nil }
    switch (text[0], text[1], text[2]) {
    case (UInt8(ascii: "m"), UInt8(ascii: "o"), UInt8(ascii: "n")): return 0
    case (UInt8(ascii: "t"), UInt8(ascii: "u"), UInt8(ascii: "e")): return 1
    case (UInt8(ascii: "w"), UInt8(ascii: "e"), UInt8(ascii: "d")): return 2
    case (UInt8(ascii: "t"), UInt8(ascii: "h"), UInt8(ascii: "u")): return 3
    case (UInt8(ascii: "f"), UInt8(ascii: "r"), UInt8(ascii: "i")): return 4
    case (UInt8(ascii: "s"), UInt8(ascii: "a"), UInt8(ascii: "t")): return 5
    case (UInt8(ascii: "s"), UInt8(ascii: "u"), UInt8(ascii: "n")): return 6
    default: return nil
    }
  }

  private static func minute(_ text: UnsafeRawBufferPointer) -> UInt16? {
    guard text.count == 5, text[2] == UInt8(ascii: ":"), let h1 = digit(text[0]),
      let h2 = digit(text[1]), let m1 = digit(text[3]), let m2 = digit(text[4])
    else { return nil }
    let hour = h1 * 10 + h2
    let minute = m1 * 10 + m2
    guard minute < 60, hour < 24 || (hour == 24 && minute == 0) else { return nil }
    return hour * 60 + minute
  }

  private static func digit(_ byte: UInt8) -> UInt16? {
    let value = byte &- UInt8(ascii: "0")
    return value <= 9 ? UInt16(value) : nil
  }
}
