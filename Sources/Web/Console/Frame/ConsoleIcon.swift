/// Small drawings beside words; what they mean is always said in words too.
enum ConsoleIcon {
  static let gate = icon("<path d=\"M3 21V5l9-3 9 3v16M8 21V9h8v12M12 9v12\"/>")
  static let check = icon("<path d=\"M4 12.5l5.5 5.5L20 6.5\"/>")
  static let clock = icon("<circle cx=\"12\" cy=\"12\" r=\"9\"/><path d=\"M12 7v5l3.5 2\"/>")
  static let cross = icon("<path d=\"M6 6l12 12M18 6L6 18\"/>")
  /// Handed over: an arrow out of a tray.
  static let tray = icon("<path d=\"M12 14V3M7.5 7.5L12 3l4.5 4.5M4 14v6h16v-6\"/>")
  static let eye = icon(
    "<path d=\"M2 12s3.6-6.5 10-6.5S22 12 22 12s-3.6 6.5-10 6.5S2 12 2 12z\"/><circle cx=\"12\" cy=\"12\" r=\"2.6\"/>"
  )
  static let pencil = icon("<path d=\"M4 20l1-4L16.5 4.5l3 3L8 19l-4 1z\"/>")
  static let phone = icon(
    "<rect x=\"6.5\" y=\"2.5\" width=\"11\" height=\"19\" rx=\"2\"/><path d=\"M11 18.5h2\"/>")
  static let flask = icon(
    "<path d=\"M9 3h6M10 3v6l-5.5 9.5A1.7 1.7 0 0 0 6 21h12a1.7 1.7 0 0 0 1.5-2.5L14 9V3\"/>")

  private static func icon(_ shape: HTML) -> HTML {
    """
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">\(shape)</svg>
    """
  }
}
