import ManagedModel
import SwiftModels

/// The models of one file of source.
func models(_ source: String) -> SourceModels {
  SourceModels([.init(path: "App.swift", bytes: Array(source.utf8))])
}

/// The model that the file's current version is, and what was remarked of it.
func model(_ source: String) throws -> (model: Model, remarks: [String]) {
  let found = models(source)
  guard let current = found.current else {
    throw CoreDataError(.unreadable, "no version: \(found.remarks)")
  }
  return (try current.model, (found.remarks + current.remarks).map(\.description))
}

/// The attributes of the class Item with these members.
func attributes(_ members: String, besides: String = "") throws -> [Attribute] {
  let found = try model("@Model class Item {\n\(members)\n}\n\(besides)")
  return found.model.entity(named: "Item")?.attributes ?? []
}

/// An attribute in one line: name, type, `?`, elements.
func line(_ attribute: Attribute) -> String {
  let elements = attribute.elements.map(line).joined(separator: ", ")
  return attribute.name + ": " + attribute.type.name + (attribute.isOptional ? "?" : "")
    + (elements.isEmpty ? "" : " { \(elements) }")
}
