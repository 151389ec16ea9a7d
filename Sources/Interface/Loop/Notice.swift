/// A sentence at the foot of the screen, gone with the next key.
package struct Notice: Sendable, Equatable {
  /// How it is meant.
  package enum Kind: Sendable { case plain, success, warning }

  var text: String
  var kind: Kind

  /// Something to be said.
  package init(_ text: String, _ kind: Kind = .plain) {
    self.text = text
    self.kind = kind
  }
}
