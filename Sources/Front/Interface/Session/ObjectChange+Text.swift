import Comparison
import ManagedStore
import Terminal

/// A change of an object in words.
extension ObjectChange {
  /// Objects of a relationship that are named one by one.
  private static let mostNamed = (inLine: 3, inFull: 100)

  /// Attributes that changed: the name, and the values as texts.
  private func values(_ store: StoreSummary?) -> [(name: String, old: String?, new: String?)] {
    let columns = store?.columns[entity] ?? []
    return attributes.map { change in
      let column =
        columns.first { $0.path == change.path }
        ?? RowColumn(name: change.path.joined(separator: "."), kind: .attribute(.string))
      return (
        column.name, change.old.map { ValueText($0.value, of: column).text },
        change.new.map { ValueText($0.value, of: column).text }
      )
    }
  }

  /// `title: Pea soup → Pea stew, tags: +Tag/p3 −Tag/p1`
  func summary(_ store: StoreSummary?) -> String {
    func cut(_ text: String) -> String { Sanitize.text(text, limit: 40) }
    let texts = values(store).map { name, old, new in
      "\(name): " + [old, new].compactMap { $0 }.map(cut).joined(separator: " → ")
    }
    let links = relationships.map { change in
      "\(change.name): " + change.named(Self.mostNamed.inLine).map(\.text).joined(separator: " ")
    }
    return (texts + links).prefix(8).joined(separator: ", ")
  }

  /// The same in full.
  func paragraphs(_ store: StoreSummary?) -> [DetailsLayer.Paragraph] {
    var paragraphs: [DetailsLayer.Paragraph] = [.init("\(sign) \(word)", role)]
    for (name, old, new) in values(store) {
      paragraphs += [.init(""), .init(name, .attribute)]
      if let old { paragraphs.append(.init("− " + old, .removed)) }
      if let new { paragraphs.append(.init("+ " + new, .added)) }
    }
    for change in relationships {
      paragraphs += [.init(""), .init(change.name, .attribute)]
      paragraphs += change.named(Self.mostNamed.inFull).map { .init($0.text, $0.role) }
    }
    return paragraphs
  }
}

extension ObjectChange.RelationshipChange {
  /// Which objects it led to before, and which it leads to now, so many of each by name.
  fileprivate func named(_ most: Int) -> [(text: String, role: Theme.Role)] {
    func names(_ objects: [ObjectID], _ sign: String, _ role: Theme.Role) -> [(String, Theme.Role)]
    {
      let rest = objects.count - most
      return objects.prefix(most).map { ("\(sign)\($0)", role) }
        + (rest > 0 ? [("\(sign)\(NumberText.grouped(rest)) more", role)] : [])
    }
    return names(removed, "−", .removed) + names(added, "+", .added)
      + (isReordered ? [("reordered", .changed)] : [])
  }
}
