// The person's setting names a sidecar that is not there.
export default { sidecar: "/nowhere/toolgate" };
