/// Models, values and errors are part of what this library says: who imports it has them.
@_exported import ManagedModel
