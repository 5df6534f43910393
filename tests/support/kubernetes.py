#!/usr/bin/env python3
"""kubernetes.py MANIFEST FOLDER: check a manifest's jobs against the published
schema, and write the command of each, one argument a line, into FOLDER/<job>.

SOURCE: api/openapi-spec/v3/apis__batch__v1_openapi.json of kubernetes/kubernetes:
of the objects that are used here all that a user may set of the kinds in use, and
what is required. Members that are not known are refused, as
`kubectl apply --validate=strict` does.
"""
import sys

import yaml

TEXTS = {"*": str}  # a map of texts
LABELS = {"matchLabels": TEXTS, "matchExpressions": list}
METADATA = {"name": str, "namespace": str, "labels": TEXTS, "annotations": TEXTS}
TERM = {"topologyKey!": str, "labelSelector": LABELS, "namespaces": [str], "namespaceSelector": LABELS}
RESOURCES = {"requests": {"*": (str, int)}, "limits": {"*": (str, int)}}
CONTAINER = {
    "name!": str, "image": str, "command": [str], "args": [str], "workingDir": str,
    "env": [{"name!": str, "value": str, "valueFrom": dict}], "resources": RESOURCES,
    "imagePullPolicy": str, "terminationMessagePath": str, "terminationMessagePolicy": str,
    "volumeMounts": [{"name!": str, "mountPath!": str, "subPath": str, "readOnly": bool}],
}
VOLUME = {
    "name!": str, "persistentVolumeClaim": {"claimName!": str, "readOnly": bool},
    "emptyDir": {"medium": str, "sizeLimit": (str, int)}, "hostPath": {"path!": str, "type": str},
}
POD = {
    "containers!": [CONTAINER], "initContainers": [CONTAINER], "volumes": [VOLUME], "restartPolicy": str,
    "nodeSelector": TEXTS, "nodeName": str, "hostIPC": bool, "hostNetwork": bool, "hostPID": bool,
    "terminationGracePeriodSeconds": int, "activeDeadlineSeconds": int, "serviceAccountName": str,
    "priorityClassName": str, "schedulerName": str,
    "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [TERM],
                                     "preferredDuringSchedulingIgnoredDuringExecution": list}},
}
JOB = {
    "template!": {"metadata": METADATA, "spec": POD}, "completionMode": str, "completions": int,
    "parallelism": int, "backoffLimit": int, "backoffLimitPerIndex": int, "maxFailedIndexes": int,
    "activeDeadlineSeconds": int, "ttlSecondsAfterFinished": int, "suspend": bool, "podReplacementPolicy": str,
}
CRON = {
    "schedule!": str, "jobTemplate!": {"metadata": METADATA, "spec": JOB}, "suspend": bool, "timeZone": str,
    "concurrencyPolicy": str, "startingDeadlineSeconds": int, "failedJobsHistoryLimit": int,
    "successfulJobsHistoryLimit": int,
}
KIND = {"Job": JOB, "CronJob": CRON}
ENUM = {"completionMode": {"Indexed", "NonIndexed"}, "restartPolicy": {"Never", "OnFailure"}}


def check(value, schema, where):
    if isinstance(schema, list):
        assert isinstance(value, list), f"{where}: no list"
        for i, x in enumerate(value):
            check(x, schema[0], f"{where}[{i}]")
    elif isinstance(schema, dict):
        assert isinstance(value, dict), f"{where}: no object"
        known = {k.rstrip("!"): v for k, v in schema.items()}
        for key, x in value.items():
            assert key in known or "*" in known, f"{where}: no member '{key}' is known"
            check(x, known.get(key, known.get("*")), f"{where}.{key}")
            assert key not in ENUM or x in ENUM[key], f"{where}.{key}: '{x}'"
        for key in schema:
            assert not key.endswith("!") or key[:-1] in value, f"{where}: '{key[:-1]}' is required"
    else:
        types = schema if isinstance(schema, tuple) else (schema,)
        assert type(value) in types, f"{where}: {value!r} is no {schema}"


def job_of(document):
    kind = document.get("kind")
    assert kind in KIND, f"kind {kind}"
    name = document["metadata"]["name"]
    check(document, {"apiVersion!": str, "kind!": str, "metadata!": METADATA, "spec!": KIND[kind]}, name)
    assert document["apiVersion"] == "batch/v1"
    return document["spec"]["jobTemplate"]["spec"] if kind == "CronJob" else document["spec"]


def main(manifest, folder):
    with open(manifest) as f:
        documents = list(yaml.safe_load_all(f))
    for document in documents:
        job = job_of(document)
        pod = job["template"]["spec"]
        names = {v["name"] for v in pod.get("volumes", [])}
        for container in pod["containers"]:
            assert {m["name"] for m in container.get("volumeMounts", [])} <= names, "a volume is missing"
            env = {e["name"]: e.get("value") for e in container.get("env", [])}
            if job.get("completionMode") == "Indexed":
                assert env["JOB_COMPLETIONS"] == str(job["completions"]), "JOB_COMPLETIONS is not completions"
            with open(f"{folder}/{document['metadata']['name']}", "w") as out:
                out.write("".join(f"{x}\n" for x in container["command"]))
    print(len(documents), "jobs")


main(*sys.argv[1:])
