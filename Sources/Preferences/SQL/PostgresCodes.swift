/// What the five letters of a failed statement mean. The first two are a class, of the SQL standard's.
enum PostgresCodes {
  static func kind(of state: String) -> SQLError.Kind {
    switch state {
    case "53100": return .diskFull
    case "53200": return .noMemory
    // A lock was not given in time; two waited for each other.
    case "55P03", "40P01", "40001": return .busy
    // The server's own bound on a statement.
    case "57014": return .tooSlow
    // A standby, a session that only reads, and a right that is missing.
    case "25006", "42501": return .readOnly
    // A table or column is missing, or was there before: another application's tables.
    case "42P01", "42703", "42P07": return .notOurs
    default: break
    }
    switch state.prefix(2) {
    case "08", "53", "57": return .connectionLost
    // Also a value that the column's type does not take.
    case "22", "23": return .constraint
    case "54": return .tooBig
    case "58": return .inputOutput
    case "XX": return .notOurs
    case "3D", "3F", "28": return .cannotOpen
    default: return .other
    }
  }
}
