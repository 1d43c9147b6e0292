/// Close matches of a name that is no zone, for error messages.
enum ZoneSuggestions {
  static let countMax = 3

  /// Best first: the same but for case, blanks and hyphens; the same last part (`Berlin`,
  /// `Germany/Berlin`); a slip or two in a name long enough that this means something. Nothing is
  /// made of abbreviations and offsets: `CST` is Chicago or China, `UTC+8` has no rules.
  static func closest(to name: String, among zones: [String]) -> [String] {
    let wanted = folded(name)
    guard !wanted.isEmpty, wanted.count <= 2 * ZoneName.bytesMax else { return [] }
    let wantedLast = lastPart(wanted)
    // `GMT+8` is not `Etc/GMT+8`: the sign there means the opposite.
    let hasDigits = wanted.contains(where: isDigit)
    let slipsMax = hasDigits ? 0 : min(2, wanted.count / 5)

    var ranked: [(rank: Int, zone: String)] = []
    for zone in zones {
      let bytes = folded(zone)
      if bytes == wanted {
        ranked.append((0, zone))
      } else if !hasDigits, wantedLast.count > 3, lastPart(bytes).elementsEqual(wantedLast) {
        ranked.append((1, zone))
      } else if slipsMax > 0, let slips = slips(bytes, wanted, max: slipsMax) {
        ranked.append((1 + slips, zone))
      }
    }
    ranked.sort { ($0.rank, $0.zone) < ($1.rank, $1.zone) }
    return ranked.prefix(countMax).map(\.zone)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func folded(_ name: String) -> [UInt8] {
    name.utf8.map { byte in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
      case UInt8(ascii: " "), UInt8(ascii: "-"): UInt8(ascii: "_")
      default: byte
      }
    }
  }

  private static func lastPart(_ name: [UInt8]) -> ArraySlice<UInt8> {
    guard let slash = name.lastIndex(of: UInt8(ascii: "/")) else { return name[...] }
    return name[(slash + 1)...]
  }

  /// Bytes to add, remove, change or swap with a neighbour to make one of the other; nil past max.
  private static func slips(_ a: [UInt8], _ b: [UInt8], max limit: Int) -> Int? {
    guard abs(a.count - b.count) <= limit else { return nil }
    var beforeLast = [Int](repeating: 0, count: b.count + 1)
    var last = Array(0...b.count)
    for i in 0..<a.count {
      var row = [i + 1]
      row.reserveCapacity(b.count + 1)
      for j in 0..<b.count {
        var best = min(last[j + 1], row[j]) + 1
        best = min(best, last[j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
          best = min(best, beforeLast[j - 1] + 1)
        }
        row.append(best)
      }
      if row.min()! > limit { return nil }
      beforeLast = last
      last = row
    }
    return last[b.count] <= limit ? last[b.count] : nil
  }
}
