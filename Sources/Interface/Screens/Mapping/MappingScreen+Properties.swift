import ManagedModel
import Migration
import Terminal

extension MappingScreen {
  /// A property of the selected mapping, and where it comes from.
  typealias PropertyLine = (name: String, role: Theme.Role, spans: [Span])

  func propertyLines(
    _ mapping: EntityMapping, in step: MigrationStep, _ theme: Theme
  ) -> [PropertyLine] {
    switch mapping.kind {
    case .remove:
      let text =
        mapping.isDeletionIntended
        ? "Its objects go, as the recipe says."
        : "The entity is gone: its objects are not taken over. r maps them to another one."
      return [("", .removed, [Span(text)])]
    case .add: return [("", .added, [Span("The entity is new: it begins without objects.")])]
    default: break
    }
    let arrow = Span("← ", theme[.dim])
    // What changes comes first: it is what one looks for.
    var (changed, same): ([PropertyLine], [PropertyLine]) = ([], [])
    for attribute in mapping.attributes {
      if attribute.expression != nil {
        let value = MappingText.value(of: attribute)
        changed.append((attribute.name, .changed, [Span(value, theme[.code])]))
        continue
      }
      let value = attribute.defaultValue.map { ValueText($0).text }
      guard let source = attribute.source else {
        let spans = [
          Span(value ?? "∅", theme[.code]), Span(value == nil ? "" : "  default", theme[.dim]),
        ]
        changed.append((attribute.name, .added, [arrow] + spans))
        continue
      }
      var spans = [arrow, Span("$source.\(source)", theme[.code])]
      if attribute.isRenamed {
        spans.append(Span("  " + origin(of: attribute.name, mapping, step), theme[.changed]))
      }
      if let value { spans.append(Span("  ∅ becomes \(value)", theme[.changed])) }
      if spans.count > 2 {
        changed.append((attribute.name, .changed, spans))
      } else {
        same.append((attribute.name, .attribute, spans))
      }
    }
    for relationship in mapping.relationships {
      if let path = MappingText.path(of: relationship) {
        changed.append((relationship.name, .changed, [arrow, Span(path, theme[.code])]))
        continue
      }
      guard let source = relationship.source else {
        let spans = [arrow, Span("∅", theme[.null]), Span("  new", theme[.dim])]
        changed.append((relationship.name, .added, spans))
        continue
      }
      let through = relationship.through.map { "\($0)($source.\(source))" } ?? "$source.\(source)"
      let spans = [arrow, Span(through, theme[.code])]
      if relationship.isRenamed {
        let origin = Span("  " + origin(of: relationship.name, mapping, step), theme[.changed])
        changed.append((relationship.name, .changed, spans + [origin]))
      } else {
        same.append((relationship.name, .relationship, spans))
      }
    }
    func lines(_ lines: [MappingText.Line]) -> [PropertyLine] {
      lines.map { line in
        let indent = String(repeating: " ", count: 2 * line.depth)
        let isBare = line.text.isEmpty
        return (
          isBare ? "" : indent + line.name, .changed,
          [Span(isBare ? line.name : line.text, theme[isBare ? .text : .code])]
        )
      }
    }
    return lines(MappingText.conditions(of: mapping)) + changed
      + lines(MappingText.children(of: mapping)) + same
  }

  /// What says that a property had another name.
  private func origin(
    of property: String, _ mapping: EntityMapping, _ step: MigrationStep
  ) -> String {
    guard let entity = mapping.destination else { return "renamed" }
    let holder = step.destination.declaringEntity(of: property, in: entity) ?? entity
    if currentEdits.renames.values.contains("\(holder).\(property)") { return "✎ renamed here" }
    let identifier =
      step.destination.storedAttribute(named: property, of: entity)?.renamingIdentifier
      ?? step.destination.relationship(named: property, of: entity)?.renamingIdentifier
    return identifier.map { "renaming id \($0)" } ?? "renamed"
  }

  /// The first objects, before and after.
  static func previewLines(_ previews: [MappingPreview], _ theme: Theme) -> [PropertyLine] {
    func text(_ properties: [MappingPreview.Property]) -> String {
      properties.map { "\($0.name) \(Sanitize.text($0.value, limit: 24))" }.joined(separator: ", ")
    }
    return previews.flatMap { preview -> [PropertyLine] in
      [
        ("", .text, []),
        (
          preview.source.map { "p\($0.key)" } ?? "", .dim,
          [Span(text(preview.before), theme[.dim])]
        ),
        ("→", .dim, [Span("\(preview.destination): \(text(preview.after))")]),
      ]
    }
  }
}
