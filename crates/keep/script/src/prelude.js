(function (call, methods, dataText) {
  'use strict';
  var parse = JSON.parse, stringify = JSON.stringify, define = Object.defineProperty;
  var result = false;

  function hidden(target, name, value) {
    define(target, name, { value: value, enumerable: false, configurable: true, writable: true });
  }

  function asList(items) {
    hidden(items, 'contains', function (item) { return items.indexOf(item) >= 0; });
    hidden(items, 'containsAll', function (all) { return all.every(function (item) { return items.indexOf(item) >= 0; }); });
    hidden(items, 'size', function () { return items.length; });
    hidden(items, 'isEmpty', function () { return items.length === 0; });
    hidden(items, 'get', function (at) { return items[at]; });
    return items;
  }

  function asTag(tag) {
    tag.attributes = asMap(tag.attributes);
    hidden(tag, 'getType', function () { return tag.type; });
    hidden(tag, 'getAttributes', function () { return tag.attributes; });
    hidden(tag, 'getMatchType', function () { return tag.matchType; });
    return tag;
  }

  function asMap(map) {
    var keys = Object.keys(map), values = keys.map(function (key) { return map[key]; });
    hidden(map, 'get', function (key) { var at = keys.indexOf(String(key)); return at >= 0 ? values[at] : null; });
    hidden(map, 'containsKey', function (key) { return keys.indexOf(String(key)) >= 0; });
    hidden(map, 'size', function () { return keys.length; });
    hidden(map, 'isEmpty', function () { return keys.length === 0; });
    hidden(map, 'keySet', function () { return asList(keys.slice()); });
    hidden(map, 'values', function () { return asList(values.slice()); });
    return map;
  }

  function asDate(millis) {
    var date = new Date(millis);
    hidden(date, 'after', function (other) { return millis > other.getTime(); });
    hidden(date, 'before', function (other) { return millis < other.getTime(); });
    hidden(date, 'equals', function (other) { return other != null && millis === other.getTime(); });
    return date;
  }

  function answer(kind, value) {
    switch (kind) {
      case 'list': return asList(value);
      case 'map': return asMap(value);
      case 'maps': return asList(value.map(asMap));
      case 'tag': return asTag(value);
      case 'date': return asDate(value);
      default: return value;
    }
  }

  var ctx = {};
  methods.split(' ').forEach(function (name) {
    hidden(ctx, name, function () {
      var args = [];
      for (var at = 0; at < arguments.length; at++) {
        var arg = arguments[at], kind = typeof arg;
        define(args, at, { value: kind === 'number' || kind === 'boolean' ? '' + arg : kind === 'string' ? arg : null });
      }
      var said = parse(call(name, args));
      return answer(said[0], said[1]);
    });
    var property = /^(get|is)([A-Z].*)$/.exec(name);
    if (property) {
      define(ctx, property[2][0].toLowerCase() + property[2].slice(1), {
        get: function () { return ctx[name](); }, set: function () {}, configurable: true
      });
    }
  });
  hidden(ctx, 'getResult', function () { return result; });
  hidden(ctx, 'setResult', function (value) { result = !!value; });
  define(ctx, 'result', { get: ctx.getResult, set: ctx.setResult });
  Object.freeze(ctx);

  function global(name, value) {
    define(globalThis, name, { value: value, enumerable: false, configurable: true, writable: true });
  }
  global('ctx', ctx);
  var tag = ctx.getCurrentTag();
  global('tag', tag);
  global('tagAttr', tag === null ? asMap({}) : tag.attributes);
  global('exit', null);
  global('quit', null);
  hidden(Array.prototype, 'intersects', function (other) {
    if (other == null) { return false; }
    for (var at = 0; at < this.length; at++) {
      if (other.includes(this[at])) { return true; }
    }
    return false;
  });
  if (dataText !== '') {
    var data = parse(dataText), request = data.request;
    global('_ctx', data);
    global('J', stringify);
    global('REQ', request);
    global('RES', request.resource);
    global('USER', request.userAttributes);
    global('UGNAMES', request.userGroups);
    global('UG', request.userGroupAttributes);
    global('UGA', request.uga);
    global('URNAMES', request.userRoles);
    global('TAG', data.tag);
    global('TAGS', data.tags);
    global('TAGNAMES', data.tagNames);
  }
  return function () { return result; };
})
