import Gate

/// The record on `preferences.defaults`. Its key is the category; no value restores the policy's.
public enum DefaultDocument {
  /// Nil: a null value.
  public static func text(_ category: Category, _ value: CategoryDefault?) -> String? {
    guard let value else { return nil }
    var object = JSONObject()
    object.add("category", "\(category.name)")
    object.add("default", value.isOn ? "on" : "off")
    object.add("regulated_default", value.isOnWhereRegulated ? "on" : "off")
    return object.text
  }
}
