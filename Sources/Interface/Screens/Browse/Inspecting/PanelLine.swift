import ManagedStore
import Terminal

/// A line of a popup that tells facts, and what Enter on it does.
struct PanelLine: Sendable, Equatable {
  enum Purpose: Sendable, Equatable {
    case none
    case object(ObjectID)
    case transaction(Int64)
    /// The rest of a transaction's changes.
    case moreChanges(of: Int64, after: Int64)
  }

  struct Piece: Sendable, Equatable {
    var text: String
    var role: Theme.Role?
    /// Cells that it takes at least.
    var width = 0
  }

  var pieces: [Piece]
  var purpose = Purpose.none

  init(_ pieces: [Piece], _ purpose: Purpose = .none) {
    self.pieces = pieces
    self.purpose = purpose
  }

  /// A title of a part.
  static func title(_ text: String) -> PanelLine { PanelLine([Piece(text: text, role: .title)]) }

  static func note(_ text: String) -> PanelLine { PanelLine([Piece(text: text, role: .dim)]) }

  static let blank = PanelLine([])

  /// A name and what it is.
  static func fact(
    _ name: String, _ value: String, _ role: Theme.Role? = nil, width: Int = 18
  ) -> PanelLine {
    PanelLine([
      Piece(text: name, role: .attribute, width: width), Piece(text: "  ", role: nil),
      Piece(text: value, role: role),
    ])
  }

  func spans(_ theme: Theme, isSelected: Bool) -> [Span] {
    pieces.map { piece in
      let text = piece.width > 0 ? piece.text.fitted(to: piece.width) : piece.text
      return Span(text, isSelected ? .plain : piece.role.map { theme[$0] } ?? .plain)
    }
  }
}
