import ManagedModel

/// A composite attribute that may not be without a value although each of its elements may, or an
/// element that may not be without one where its composite has one.
///
/// A composite has no value where every element is NULL. SwiftData makes such of every enum and of structures
/// whose properties are all optional. Apple's migration lets rows without one through, as reports
/// from apps show, and SwiftData stops the app when it reads one.
package struct MandatoryComposite: Equatable {
  package var name: String
  /// Paths of the elements that have columns; never empty.
  package var elements: [String]
  /// Paths of the other elements of the composite that it is in; empty where it is in none. Where
  /// they have no value either, that one lacks its value.
  var siblings: [String] = []
  /// Whether it is an element with a column of its own, of a composite that may be without a value.
  package var isElement = false

  /// SQL that is true of a row without a value, of the SQL of each element; `nil` stands for NULL.
  package func isMissing(_ sql: (String) -> String?) -> String {
    let own = elements.map { "\(sql($0) ?? "NULL") IS NULL" }.joined(separator: " AND ")
    guard !siblings.isEmpty else { return own }
    let others = siblings.map { "\(sql($0) ?? "NULL") IS NOT NULL" }.joined(separator: " OR ")
    return "\(own) AND (\(others))"
  }
}

extension Model {
  /// The composite attributes of an entity that may not be without a value, though each element may.
  package func mandatoryComposites(of entity: String) -> [MandatoryComposite] {
    attributes(of: entity).filter { $0.type == .composite && $0.isStored }
      .flatMap { $0.mandatoryComposites(in: []) }
  }
}

extension Attribute {
  /// - Parameters:
  ///   - around: the elements of the composite that it is in.
  ///   - isWithinOptional: whether that one, or one around it, may be without a value.
  fileprivate func mandatoryComposites(
    in around: [String], isWithinOptional: Bool = false
  ) -> [MandatoryComposite] {
    let isWithinOptional = isWithinOptional || isOptional
    let columns = storage.columns.map(\.attribute)
    let names = columns.map(\.name)
    var all: [MandatoryComposite] = []
    if !isOptional, !columns.isEmpty, columns.allSatisfy(\.isOptional) {
      let siblings = around.filter { !names.contains($0) }
      // One that is all there is of the composite around it is reported with that.
      if around.isEmpty || !siblings.isEmpty {
        all.append(MandatoryComposite(name: name, elements: names, siblings: siblings))
      }
    }
    for element in elements where element.type == .composite && element.isStored {
      var named = element
      named.name = AttributeStorage.path(name, element.name)
      all += named.mandatoryComposites(in: names, isWithinOptional: isWithinOptional)
    }
    // Of a composite that must have a value, each such element is checked like an attribute.
    for element in elements
    where isWithinOptional && !element.isOptional && element.type != .composite && element.isStored
    {
      let path = AttributeStorage.path(name, element.name)
      let siblings = names.filter { $0 != path }
      if !siblings.isEmpty {
        all.append(
          MandatoryComposite(name: path, elements: [path], siblings: siblings, isElement: true))
      }
    }
    return all
  }
}

extension MandatoryComposite {
  package var message: String {
    isElement
      ? "no value in a mandatory element of a composite attribute that has others"
      : "no value in a mandatory composite attribute"
  }

  package var hint: String {
    "Core Data accepts these rows, but an app with SwiftData crashes when it reads one: give an element a default value, or a value in a recipe: \"attributes\": { \"\(elements.first ?? name)\": … }."
  }
}
