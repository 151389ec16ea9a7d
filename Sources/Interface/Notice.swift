/// A sentence at the foot of the screen, gone with the next key.
package struct Notice: Sendable, Equatable {
  package enum Kind: Sendable { case plain, success, warning }

  package var text: String
  package var kind: Kind

  package init(_ text: String, _ kind: Kind = .plain) {
    self.text = text
    self.kind = kind
  }
}
