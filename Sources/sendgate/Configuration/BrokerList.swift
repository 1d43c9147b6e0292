/// `kafka.bootstrap.servers`, checked: librdkafka takes a list of nothing for a list, and then waits
/// for a broker for ever.
enum BrokerList {
  static let wanted = "wants HOST:PORT[,HOST:PORT ...], such as kafka-1:9092,kafka-2:9092"

  /// Nil where the value is good, else what is wanted instead.
  static func problem(_ value: String) -> String? {
    let entries = value.split(separator: ",", omittingEmptySubsequences: false)
    for entry in entries {
      if let problem = problem(entry: entry) { return problem }
    }
    return nil
  }

  private static func problem(entry: Substring) -> String? {
    let address = trim(entry)
    if address.isEmpty { return "names no broker between its commas; it \(wanted)" }
    // SASL_SSL://kafka-1:9092 is another way to say security.protocol.
    let place = address.firstRange(of: "://").map { address[$0.upperBound...] } ?? address
    let host: Substring
    let port: Substring?
    if place.hasPrefix("[") {
      guard let end = place.firstIndex(of: "]") else {
        return "has \"\(address)\", a [ without ]; it \(wanted)"
      }
      host = place[place.index(after: place.startIndex)..<end]
      let rest = place[place.index(after: end)...]
      guard rest.isEmpty || rest.hasPrefix(":") else {
        return "has \"\(address)\", with something between ] and the port; it \(wanted)"
      }
      port = rest.isEmpty ? nil : rest.dropFirst()
    } else {
      let colon = place.lastIndex(of: ":")
      host = colon.map { place[..<$0] } ?? place
      port = colon.map { place[place.index(after: $0)...] }
    }
    guard !host.isEmpty, host.allSatisfy({ !$0.isWhitespace && $0 != "/" }) else {
      return "has \"\(address)\", without a host; it \(wanted)"
    }
    guard let port else { return nil }
    guard let number = Int(port), 1...65_535 ~= number else {
      return "has \"\(address)\", whose port is no number from 1 to 65535; it \(wanted)"
    }
    return nil
  }

  private static func trim(_ text: Substring) -> Substring {
    var text = text.drop { $0.isWhitespace }
    while text.last?.isWhitespace == true { text.removeLast() }
    return text
  }
}
