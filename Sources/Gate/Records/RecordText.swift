/// The rules for text in records, for those who write what the gate reads.
public enum RecordText {
  /// 1 to 128 bytes without control characters.
  public static func isID(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { CandidateDecoder.isID(Bytes($0)) }
  }

  /// A subtype's or an event's name: 1 to 64 bytes without control characters, of which PostgreSQL
  /// cannot keep one. A candidate's may have them: it names nothing then that a policy or a user names.
  public static func isName(_ text: String) -> Bool {
    text.utf8.count <= CandidateDecoder.textBytesMax && isID(text)
  }
}
