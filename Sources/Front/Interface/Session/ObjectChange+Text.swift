import Comparison
import ManagedStore
import Terminal

/// A change of an object in words.
extension ObjectChange {
  /// What changed, a property each: its name, and its values as texts.
  private func properties(
    _ store: StoreSummary?
  ) -> [(name: String, old: String?, new: String?)] {
    let columns = store?.columns[entity] ?? []
    let values = attributes.map { change -> (String, String?, String?) in
      let column =
        columns.first { $0.path == change.path }
        ?? RowColumn(name: change.path.joined(separator: "."), kind: .attribute(.string))
      return (
        column.name, change.old.map { ValueText($0.value, of: column).text },
        change.new.map { ValueText($0.value, of: column).text }
      )
    }
    let links = relationships.map { ($0.name, String?.none, String?.some($0.words)) }
    return (values + links).map { (name: $0.0, old: $0.1, new: $0.2) }
  }

  /// `title: Pea soup → Pea stew, minutes: 12 → 15`
  func summary(_ store: StoreSummary?) -> String {
    properties(store).prefix(8).map { name, old, new in
      func cut(_ text: String) -> String { Sanitize.text(text, limit: 40) }
      let values = [old, new].compactMap { $0 }.map(cut).joined(separator: " → ")
      return "\(name): \(values)"
    }.joined(separator: ", ")
  }

  /// The same in full.
  func paragraphs(_ store: StoreSummary?) -> [DetailsLayer.Paragraph] {
    [.init("\(sign) \(word)", role)]
      + properties(store).flatMap { name, old, new -> [DetailsLayer.Paragraph] in
        [.init(""), .init(name, .attribute)]
          + (old.map { [.init("− " + $0, .removed)] } ?? [])
          + (new.map { [.init("+ " + $0, .added)] } ?? [])
      }
  }
}
