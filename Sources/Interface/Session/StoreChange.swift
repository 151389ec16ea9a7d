/// What happened to the store's files while they were looked at.
package enum StoreChange: String, Sendable {
  /// Another file has its name now.
  case replaced
  /// A program wrote to it.
  case changed
  /// Nothing has its name any more.
  case gone

  var sentence: String {
    switch self {
    case .replaced: "another file is in the store’s place; ^R reads it"
    case .changed: "another program changed the store; ^R reads it again"
    case .gone: "the store’s file is gone; ^R looks for it again"
    }
  }
}
