import Glibc

/// Where users live: a region and a time zone, as often as people do.
struct Places {
  struct Place {
    /// ISO 3166-1 alpha-2.
    let region: [UInt8]
    let timezone: [UInt8]
    /// Shares of iOS among the devices, of 10,000.
    let iosShare: Int
  }

  let all: [Place]
  /// Running sums of the populations, for the search.
  private let upTo: [Int]

  /// A table of `region, timezone, population`, separated by tabs, under a header of those names;
  /// `#` in front of a comment.
  init(table bytes: [UInt8], name: String) throws(CommandFailure) {
    var places: [Place] = []
    var upTo: [Int] = []
    var total = 0
    var hasHeader = false
    for (i, raw) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
      let line = raw.last == 0x0D ? raw.dropLast() : raw
      if line.isEmpty || line.first == UInt8(ascii: "#") { continue }
      let fields = line.split(separator: 0x09, omittingEmptySubsequences: false)
      if !hasHeader {
        guard fields.map({ String(decoding: $0, as: UTF8.self) }) == Self.header else {
          throw Self.failure(name, i, "wants the header region, timezone, population")
        }
        hasHeader = true
        continue
      }
      guard fields.count == 3, Self.isRegion(fields[0]), Self.isZone(fields[1]),
        let population = Int(String(decoding: fields[2], as: UTF8.self)),
        (0...100_000_000_000).contains(population)
      else {
        throw Self.failure(
          name, i, "wants region (two capitals), timezone and population, separated by tabs")
      }
      let region = Array(fields[0])
      places.append(
        Place(
          region: region, timezone: Array(fields[1]),
          iosShare: Shares.ios(region: String(decoding: region, as: UTF8.self))))
      total += population
      upTo.append(total)
    }
    guard total > 0 else {
      throw CommandFailure(ExitCode.badData, "\(name) names no place where anybody lives")
    }
    all = places
    self.upTo = upTo
  }

  func pick(_ random: inout Random) -> Place {
    let at = random.below(upTo.last!)
    // The first place whose running sum lies above.
    var (low, high) = (0, upTo.count - 1)
    while low < high {
      let middle = (low + high) / 2
      if upTo[middle] > at { high = middle } else { low = middle + 1 }
    }
    return all[low]
  }

  static let bytesMax = 16 << 20
  private static let header = ["region", "timezone", "population"]

  /// The table that comes with the command: `deploy/places.tsv` here or in a folder above the
  /// command's own, or `share/sendgate/places.tsv` beside an installed one.
  static func shippedPath() throws(CommandFailure) -> String {
    var tried = ["deploy/places.tsv"]
    var folder = executableFolder()
    while !folder.isEmpty {
      tried += ["\(folder)/deploy/places.tsv", "\(folder)/share/sendgate/places.tsv"]
      folder = String(folder[..<(folder.lastIndex(of: "/") ?? folder.startIndex)])
    }
    for path in tried where access(path, R_OK) == 0 { return path }
    throw CommandFailure(
      ExitCode.noInput, "no places.tsv in deploy/ here or above the command: name one by --places")
  }

  private static func executableFolder() -> String {
    var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = path.withUnsafeMutableBytes {
      readlink("/proc/self/exe", $0.baseAddress!, $0.count)
    }
    let text = String(decoding: path.prefix(max(0, count)), as: UTF8.self)
    return String(text[..<(text.lastIndex(of: "/") ?? text.startIndex)])
  }

  private static func isRegion(_ field: ArraySlice<UInt8>) -> Bool {
    field.count == 2 && field.allSatisfy { (0x41...0x5A).contains($0) }
  }

  /// What a zone id is made of, so that it can stand in JSON as it is.
  private static func isZone(_ field: ArraySlice<UInt8>) -> Bool {
    !field.isEmpty
      && field.allSatisfy {
        switch $0 {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2D, 0x2F, 0x5F: true
        default: false
        }
      }
  }

  private static func failure(_ name: String, _ line: Int, _ text: String) -> CommandFailure {
    CommandFailure(ExitCode.badData, "line \(line + 1) of \(name): \(text)")
  }
}
