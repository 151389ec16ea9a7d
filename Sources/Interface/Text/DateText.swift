import ManagedModel

/// Dates for people, in UTC.
enum DateText {
  /// `2024-03-01 12:00Z`, with seconds where there are any.
  static func utc(_ seconds: Double) -> String {
    var text = CoreDataDate.text(seconds)
    guard text.hasSuffix("Z"), let mark = text.firstIndex(of: "T") else { return text }
    text.replaceSubrange(mark...mark, with: " ")
    if text.hasSuffix(":00Z") { text = text.dropLast(4) + "Z" }
    return text
  }
}
